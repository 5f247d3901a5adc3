//! Changes to an expression before it is evaluated: loops count their steps, and what the evaluator lacks is
//! expressed by what it has.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::operators::{LOGICAL_AND, LOGICAL_OR, OPT_INDEX, OPT_SELECT};
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr};

use super::absorb;

/// Counts a step of a loop, and ends a loop that takes too many.
pub(super) const TICK: &str = "@tick";
/// A field that may be absent: `a.?b`.
pub(super) const SELECT_OPTIONAL: &str = "@optional";

/// A text that must be a quantity; the evaluator has other words for what is none.
pub(super) const CHECK_QUANTITY: &str = "@quantity";
/// Whether a text is a quantity; the evaluator forgives spaces.
pub(super) const IS_QUANTITY: &str = "@isQuantity";

/// A value from which a text can be made; the evaluator makes none from a boolean.
pub(super) const AS_TEXT: &str = "@text";

/// A time in UTC, which is where the server reads the hour of a time; the evaluator reads it where the time is.
pub(super) const IN_UTC: &str = "@utc";

/// What a time can be asked for, there or in a time zone; the evaluator does not look at the zone.
const OF_TIMES: [&str; 10] = [
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
];

/// Rewrites an expression; the error says what in it cannot be evaluated.
pub(super) fn rewrite(expr: IdedExpr, optional_old_self: bool) -> Result<IdedExpr, String> {
    Rewriter { optional_old_self }.visit(expr)
}

struct Rewriter {
    optional_old_self: bool,
}

impl Rewriter {
    fn visit(&self, expr: IdedExpr) -> Result<IdedExpr, String> {
        let IdedExpr { id, expr } = expr;
        let expr = match expr {
            Expr::Unspecified => return Err("ERROR: <input>: empty expression".to_owned()),
            Expr::Struct(value) => {
                return Err(format!(
                    "ERROR: <input>: undeclared reference to '{}' (in container '')",
                    value.type_name
                ));
            }
            Expr::Call(call) => self.call(call)?,
            Expr::Comprehension(comprehension) => self.comprehension(id, *comprehension)?,
            Expr::Select(select) => self.select(select)?,
            Expr::List(mut list) => {
                list.elements = self.all(list.elements)?;
                Expr::List(list)
            }
            Expr::Map(mut map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        entry.key = self.visit(std::mem::take(&mut entry.key))?;
                        entry.value = self.visit(std::mem::take(&mut entry.value))?;
                    }
                }
                Expr::Map(map)
            }
            Expr::Ident(_) | Expr::Literal(_) => expr,
        };
        Ok(IdedExpr { id, expr })
    }

    fn all(&self, exprs: Vec<IdedExpr>) -> Result<Vec<IdedExpr>, String> {
        exprs.into_iter().map(|expr| self.visit(expr)).collect()
    }

    fn call(&self, call: CallExpr) -> Result<Expr, String> {
        // A rule that would be answered wrongly, or never, is no rule: whoever defines the kind is told at once.
        if OF_TIMES.contains(&call.func_name.as_str()) && !call.args.is_empty() {
            return Err(format!("ERROR: <input>: {} in a time zone is not supported", call.func_name));
        }
        if call.func_name == "named" {
            return Err("ERROR: <input>: format.named is not supported".to_owned());
        }
        let target = call.target.map(|target| self.visit(*target).map(Box::new)).transpose()?;
        let mut args = self.all(call.args)?;
        let mut wrap = |function: &str| args = vec![applied(function, std::mem::take(&mut args))];
        let func_name = match call.func_name.as_str() {
            LOGICAL_OR => absorb::OR,
            LOGICAL_AND => absorb::AND,
            OPT_SELECT => SELECT_OPTIONAL,
            "isQuantity" => IS_QUANTITY,
            name @ "quantity" => {
                wrap(CHECK_QUANTITY);
                name
            }
            name @ "timestamp" => {
                wrap(IN_UTC);
                name
            }
            name @ "string" if target.is_none() => {
                wrap(AS_TEXT);
                name
            }
            name => name,
        };
        let func_name = func_name.to_owned();
        Ok(Expr::Call(CallExpr { func_name, target, args }))
    }

    fn comprehension(&self, id: u64, it: ComprehensionExpr) -> Result<Expr, String> {
        if it.iter_var2.is_some() {
            return Err("ERROR: <input>: loops over two variables are not supported".to_owned());
        }
        let (loop_step, around) = self.step(it.loop_step, &it.accu_var)?;
        let comprehension = Expr::Comprehension(Box::new(ComprehensionExpr {
            iter_range: self.visit(it.iter_range)?,
            accu_init: self.visit(it.accu_init)?,
            loop_cond: applied(TICK, vec![self.visit(it.loop_cond)?]),
            loop_step,
            result: self.visit(it.result)?,
            ..it
        }));
        Ok(match around {
            None => comprehension,
            Some(function) => applied(function, vec![IdedExpr { id, expr: comprehension }]).expr,
        })
    }

    /// The step of a loop, and, if it looks for something that decides, the function that the loop is an argument of.
    fn step(&self, step: IdedExpr, accumulator: &str) -> Result<(IdedExpr, Option<&'static str>), String> {
        let (id, mut call) = match step {
            IdedExpr { id, expr: Expr::Call(call) } => (id, call),
            other => return Ok((self.visit(other)?, None)),
        };
        let accumulates = matches!(call.args.first(), Some(first) if is_ident(first, accumulator));
        let (of_step, of_loop) = match call.func_name.as_str() {
            LOGICAL_OR if accumulates => (absorb::ANY_STEP, absorb::ANY),
            LOGICAL_AND if accumulates => (absorb::ALL_STEP, absorb::ALL),
            _ => return Ok((self.visit(IdedExpr { id, expr: Expr::Call(call) })?, None)),
        };
        let mut args = self.all(std::mem::take(&mut call.args))?;
        if let Some(last) = args.pop() {
            args.push(applied(of_step, vec![last]));
        }
        Ok((IdedExpr { id, expr: Expr::Call(CallExpr { args, ..call }) }, Some(of_loop)))
    }

    /// A field of what may be absent may be absent.
    fn select(&self, select: SelectExpr) -> Result<Expr, String> {
        let is_optional = self.is_optional(&select.operand);
        let operand = self.visit(*select.operand)?;
        if !is_optional || select.test {
            return Ok(Expr::Select(SelectExpr { operand: Box::new(operand), ..select }));
        }
        let field = literal(operand.id, LiteralValue::String(select.field.as_str().into()));
        Ok(Expr::Call(CallExpr {
            func_name: SELECT_OPTIONAL.to_owned(),
            target: None,
            args: vec![operand, field],
        }))
    }

    fn is_optional(&self, expr: &IdedExpr) -> bool {
        match &expr.expr {
            Expr::Call(call) => matches!(call.func_name.as_str(), OPT_SELECT | OPT_INDEX),
            Expr::Select(select) => self.is_optional(&select.operand),
            Expr::Ident(name) => self.optional_old_self && name == "oldSelf",
            _ => false,
        }
    }
}

fn is_ident(expr: &IdedExpr, name: &str) -> bool {
    matches!(&expr.expr, Expr::Ident(ident) if ident == name)
}

/// A call of a function.
fn applied(function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args }) }
}

fn literal(id: u64, value: LiteralValue) -> IdedExpr {
    IdedExpr { id, expr: Expr::Literal(value) }
}
