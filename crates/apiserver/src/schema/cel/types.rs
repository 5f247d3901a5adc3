//! What can be said of an expression before it is evaluated: names that nothing has, and fields that a schema does
//! not declare.
//!
//! The server checks all types; here only those of fields and loops are followed, and what is not known is let pass.

use std::collections::HashMap;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::operators::{INDEX, OPT_INDEX};
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr};

use super::super::node::Node;
use super::check::has_type;
use super::names;
use super::rewrite::SELECT_OPTIONAL;
use super::values::escape;

/// What is known of the type of a value.
#[derive(Clone, Copy)]
enum Type<'a> {
    Unknown,
    Text,
    /// A value of a schema; the flag says whether it is a whole resource.
    Of(&'a Node, bool),
    /// The names of a resource.
    Metadata,
}

/// What is wrong with an expression.
pub(super) fn check(expr: &IdedExpr, text: &str, node: &Node, is_resource: bool) -> Vec<String> {
    let this = Type::Of(node, is_resource);
    let scope = HashMap::from([("self".to_owned(), this), ("oldSelf".to_owned(), this)]);
    let mut checker = Checker { scope, text, errors: Vec::new() };
    checker.visit(expr);
    checker.errors
}

/// Whether the value of an expression is surely of another type than `kind`.
pub(super) fn is_surely_no(kind: &str, expr: &IdedExpr, node: &Node, is_resource: bool) -> bool {
    let this = Type::Of(node, is_resource);
    let scope = HashMap::from([("self".to_owned(), this), ("oldSelf".to_owned(), this)]);
    let found = match &expr.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => "boolean",
        Expr::Literal(LiteralValue::String(_)) => "string",
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => "other",
        _ => match (Checker { scope, text: "", errors: Vec::new() }).visit(expr) {
            Type::Of(node, _) if !node.int_or_string && node.bounds.format.is_empty() => node.kind.as_str(),
            Type::Text => "string",
            _ => kind,
        },
    };
    found != kind
}

struct Checker<'a> {
    scope: HashMap<String, Type<'a>>,
    text: &'a str,
    errors: Vec<String>,
}

impl<'a> Checker<'a> {
    fn visit(&mut self, expr: &IdedExpr) -> Type<'a> {
        match &expr.expr {
            Expr::Ident(name) => self.ident(name),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::List(list) => self.all(&list.elements),
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.visit(&entry.key);
                        self.visit(&entry.value);
                    }
                }
                Type::Unknown
            }
            Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => Type::Unknown,
        }
    }

    fn all(&mut self, exprs: &[IdedExpr]) -> Type<'a> {
        for expr in exprs {
            self.visit(expr);
        }
        Type::Unknown
    }

    fn ident(&mut self, name: &str) -> Type<'a> {
        if let Some(known) = self.scope.get(name) {
            return *known;
        }
        if !names::is_type(name) && !name.starts_with(['@', '#']) {
            self.undeclared(name);
        }
        Type::Unknown
    }

    fn select(&mut self, select: &SelectExpr) -> Type<'a> {
        if is_qualified_type(select) {
            return Type::Unknown;
        }
        let from = self.visit(&select.operand);
        let found = self.field(from, &select.field);
        if select.test { Type::Unknown } else { found }
    }

    fn field(&mut self, from: Type<'a>, field: &str) -> Type<'a> {
        let found = match from {
            Type::Unknown => return Type::Unknown,
            Type::Text => None,
            Type::Metadata => matches!(field, "name" | "generateName").then_some(Type::Text),
            Type::Of(node, _) if node.int_or_string => return Type::Unknown,
            Type::Of(node, is_resource) => match field {
                "metadata" if is_resource => Some(Type::Metadata),
                "apiVersion" | "kind" if is_resource => Some(Type::Text),
                _ => declared(node, field),
            },
        };
        found.unwrap_or_else(|| {
            let at = self.text.find(&format!(".{field}")).unwrap_or_default();
            self.error(at, &format!("undefined field '{field}'"));
            Type::Unknown
        })
    }

    fn call(&mut self, call: &CallExpr) -> Type<'a> {
        if !names::is_function(&call.func_name) {
            self.undeclared(&call.func_name);
        }
        let namespace =
            |target: &IdedExpr| matches!(&target.expr, Expr::Ident(name) if names::is_namespace(name));
        if let Some(target) = call.target.as_deref().filter(|target| !namespace(target)) {
            self.visit(target);
        }
        match (call.func_name.as_str(), call.args.as_slice()) {
            (INDEX | OPT_INDEX, [from, index]) => {
                self.visit(index);
                match self.visit(from) {
                    Type::Of(node, _) if call.func_name == INDEX => element(node),
                    _ => Type::Unknown,
                }
            }
            (SELECT_OPTIONAL, [from, _]) => {
                self.visit(from);
                Type::Unknown
            }
            (_, args) => self.all(args),
        }
    }

    fn comprehension(&mut self, it: &ComprehensionExpr) -> Type<'a> {
        let item = match self.visit(&it.iter_range) {
            Type::Of(node, _) if node.kind == "array" => element(node),
            Type::Of(node, _) if node.kind == "object" => Type::Text,
            Type::Unknown => Type::Unknown,
            Type::Of(node, _) if node.int_or_string => Type::Unknown,
            scalar => {
                let kind = if let Type::Of(node, _) = scalar { node.kind.as_str() } else { "string" };
                let detail = "cannot be range of a comprehension (must be list, map, or dynamic)";
                self.error(0, &format!("expression of type '{kind}' {detail}"));
                Type::Unknown
            }
        };
        self.visit(&it.accu_init);
        let shadowed = [
            (it.iter_var.clone(), self.scope.insert(it.iter_var.clone(), item)),
            (it.accu_var.clone(), self.scope.insert(it.accu_var.clone(), Type::Unknown)),
        ];
        self.visit(&it.loop_cond);
        self.visit(&it.loop_step);
        self.visit(&it.result);
        for (name, before) in shadowed {
            match before {
                Some(before) => self.scope.insert(name, before),
                None => self.scope.remove(&name),
            };
        }
        Type::Unknown
    }

    fn undeclared(&mut self, name: &str) {
        let at = self.text.find(name).unwrap_or_default();
        self.error(at, &format!("undeclared reference to '{name}' (in container '')"));
    }

    fn error(&mut self, at: usize, what: &str) {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let source = self.text.lines().nth(line).unwrap_or_default();
        let mark = format!("{}^", ".".repeat(column));
        self.errors.push(format!(
            "ERROR: <input>:{}:{}: {what}\n | {source}\n | {mark}",
            line + 1,
            column + 1
        ));
    }
}

/// A field of an object, by the name that rules know it by.
fn declared<'a>(node: &'a Node, field: &str) -> Option<Type<'a>> {
    if node.kind != "object" {
        return None;
    }
    if let Some(additional) = node.additional_schema() {
        return Some(Type::Of(additional, false));
    }
    let is_field = |name: &&String| escape(name).as_deref() == Some(field);
    let name = node.properties.keys().find(is_field)?;
    node.properties.get(name).filter(|node| has_type(node)).map(|node| Type::Of(node, node.embedded))
}

fn element(node: &Node) -> Type<'_> {
    node.items
        .as_deref()
        .or_else(|| node.additional_schema())
        .map_or(Type::Unknown, |node| Type::Of(node, node.embedded))
}

/// Whether this is the name of a type with dots in it.
fn is_qualified_type(select: &SelectExpr) -> bool {
    match &select.operand.expr {
        Expr::Ident(name) => name == "google",
        Expr::Select(inner) => is_qualified_type(inner),
        _ => false,
    }
}
