//! `nodeAffinity`: is it a valid `NodeAffinity`? The CRD bounds it; what its parts mean together is checked
//! here, as the API server does when a Pod has it.

use k8s_openapi::api::core::v1::{NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm};

use super::{Path, Violation, labels};

/// The one field of a node that can be selected by.
const NAME_FIELD: &str = "metadata.name";
/// How much a preference may count.
const WEIGHTS: std::ops::RangeInclusive<i32> = 1..=100;

/// What the API server would refuse in a Pod with this affinity.
pub fn node_affinity(affinity: &NodeAffinity, path: &Path) -> Vec<Violation> {
    let mut found = Found { violations: Vec::new() };
    if let Some(required) = &affinity.required_during_scheduling_ignored_during_execution {
        let path = path.field("requiredDuringSchedulingIgnoredDuringExecution").field("nodeSelectorTerms");
        if required.node_selector_terms.is_empty() {
            found.refuse(&path, "must have at least one term");
        }
        for (index, item) in required.node_selector_terms.iter().enumerate() {
            found.term(item, Values::Checked, &path.index(index));
        }
    }
    let path = path.field("preferredDuringSchedulingIgnoredDuringExecution");
    let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    for (index, item) in preferred.enumerate() {
        let path = path.index(index);
        if !WEIGHTS.contains(&item.weight) {
            found.refuse(&path.field("weight"), "must be between 1 and 100");
        }
        // A preference that no node meets does no harm, so the API server lets its values pass.
        found.term(&item.preference, Values::Unchecked, &path.field("preference"));
    }
    found.violations
}

/// What the API server lets through, although no node can ever be compared with it: `Gt` and `Lt` need an
/// integer.
pub fn unschedulable(affinity: &NodeAffinity, path: &Path) -> Vec<Violation> {
    let mut found = Found { violations: Vec::new() };
    let required = path.field("requiredDuringSchedulingIgnoredDuringExecution").field("nodeSelectorTerms");
    let terms = affinity.required_during_scheduling_ignored_during_execution.iter();
    for (index, item) in terms.flat_map(|r| &r.node_selector_terms).enumerate() {
        found.integers(item, &required.index(index));
    }
    let preferred = path.field("preferredDuringSchedulingIgnoredDuringExecution");
    let terms = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    for (index, item) in terms.enumerate() {
        found.integers(&item.preference, &preferred.index(index).field("preference"));
    }
    found.violations
}

/// Whether the values of expressions are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Checked,
    Unchecked,
}

struct Found {
    violations: Vec<Violation>,
}

impl Found {
    fn refuse(&mut self, path: &Path, message: &str) {
        self.violations.push(Violation { path: path.to_string(), message: message.to_owned() });
    }

    fn term(&mut self, term: &NodeSelectorTerm, values: Values, path: &Path) {
        let at = path.field("matchExpressions");
        for (index, expression) in term.match_expressions.iter().flatten().enumerate() {
            self.expression(expression, values, &at.index(index));
        }
        let at = path.field("matchFields");
        for (index, expression) in term.match_fields.iter().flatten().enumerate() {
            self.field_expression(expression, &at.index(index));
        }
    }

    fn expression(&mut self, expression: &NodeSelectorRequirement, values: Values, path: &Path) {
        let given = expression.values.as_deref().unwrap_or_default();
        let values_path = path.field("values");
        match expression.operator.as_str() {
            "In" | "NotIn" if given.is_empty() => {
                self.refuse(&values_path, "In and NotIn need at least one value");
            }
            "Exists" | "DoesNotExist" if !given.is_empty() => {
                self.refuse(&values_path, "Exists and DoesNotExist take no values");
            }
            "Gt" | "Lt" if given.len() != 1 => self.refuse(&values_path, "Gt and Lt need exactly one value"),
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => self.refuse(&path.field("operator"), "must be In, NotIn, Exists, DoesNotExist, Gt or Lt"),
        }
        if let Some(wrong) = labels::key(&expression.key) {
            self.refuse(&path.field("key"), wrong);
        }
        if values == Values::Checked {
            for (index, value) in given.iter().enumerate() {
                if let Some(wrong) = labels::value(value) {
                    self.refuse(&values_path.index(index), wrong);
                }
            }
        }
    }

    fn field_expression(&mut self, expression: &NodeSelectorRequirement, path: &Path) {
        let given = expression.values.as_deref().unwrap_or_default();
        match expression.operator.as_str() {
            "In" | "NotIn" if given.len() == 1 => {}
            "In" | "NotIn" => self.refuse(&path.field("values"), "a field needs exactly one value"),
            _ => self.refuse(&path.field("operator"), "must be In or NotIn for a field"),
        }
        if expression.key != NAME_FIELD {
            self.refuse(&path.field("key"), "the only field to select by is metadata.name");
            return;
        }
        for (index, value) in given.iter().enumerate() {
            if let Some(wrong) = labels::subdomain(value) {
                self.refuse(&path.field("values").index(index), wrong);
            }
        }
    }

    fn integers(&mut self, term: &NodeSelectorTerm, path: &Path) {
        let at = path.field("matchExpressions");
        for (index, expression) in term.match_expressions.iter().flatten().enumerate() {
            let values = expression.values.as_deref().unwrap_or_default();
            if let ("Gt" | "Lt", [value]) = (expression.operator.as_str(), values)
                && value.parse::<i64>().is_err()
            {
                self.refuse(&at.index(index).field("values").index(0), "Gt and Lt compare with an integer");
            }
        }
    }
}
