//! What a person can do: commands that can be run as they stand, each with what it costs behind a `#`.

use kube::ResourceExt;
use muster_api::names::{ConditionType, Reason};
use muster_core::conditions;
use muster_core::pause::Pause;

use super::Facts;
use crate::access::Knowledge;
use crate::print::paint::tame;

/// The lines; none where there is nothing to do.
pub(super) fn text(facts: &Facts) -> String {
    let mut lines = Vec::new();
    let (cluster, name) = (&facts.cluster, facts.cluster.name_any());
    let status = cluster.status.clone().unwrap_or_default();
    if matches!(facts.operator.knowledge, Knowledge::Stale { .. } | Knowledge::None) {
        lines.push("start the operator: until it looks again, nothing here is mended or renewed".to_owned());
    }
    let pause = Pause::from_annotations(cluster.metadata.annotations.as_ref());
    if pause.clustering {
        lines.push(format!("kubectl muster start clustering {name} # when you have done your work by hand"));
    }
    if pause.reconciliation {
        lines.push(format!("kubectl muster start reconciliation {name} # applies the newest spec"));
    }
    let known = &status.conditions;
    let invalid =
        conditions::get(known, ConditionType::SpecValid).filter(|condition| condition.status == "False");
    if invalid.is_some_and(|condition| condition.reason == Reason::Invalid.as_str()) {
        lines.push(format!(
            "kubectl edit rcl {name} # the message of SpecValid lists every field that is wrong"
        ));
    }
    if let Some(unblock) = status.recovery.as_ref().and_then(|recovery| recovery.unblock.as_ref()) {
        lines.extend(unblock.lines().map(str::to_owned));
    }
    for member in status.members.iter().flat_map(|members| &members.errant) {
        lines.push(format!(
            "kubectl muster rejoin {name} {member} --discard # discards what only it holds, and copies it anew"
        ));
    }
    let lines = lines.iter().map(|line| in_namespace(line, facts.namespace.as_deref()));
    lines.fold(String::new(), |text, line| text + "  " + &tame(&line) + "\n")
}

/// A suggested command, with the namespace where it has to be named. kubectl takes no flags before a plugin's name, so it
/// stands at the end; and in what the shell fills in, too.
fn in_namespace(line: &str, namespace: Option<&str>) -> String {
    let Some(namespace) = namespace.filter(|_| line.starts_with("kubectl ")) else { return line.to_owned() };
    let (command, comment) = match line.split_once(" # ") {
        Some((command, comment)) => (command, format!(" # {comment}")),
        None => (line, String::new()),
    };
    let command = command.replace("$(kubectl get rcl ", &format!("$(kubectl get rcl -n {namespace} "));
    format!("{command} -n {namespace}{comment}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_works_from_another_namespace() {
        let line = "kubectl muster fence orders orders-a-2 # only when it does not run";
        assert_eq!(
            in_namespace(line, Some("shop")),
            "kubectl muster fence orders orders-a-2 -n shop # only when it does not run"
        );
        assert_eq!(in_namespace(line, None), line);
        let line = "kubectl muster fence o $(kubectl get rcl o -o jsonpath='{.x}')";
        assert_eq!(
            in_namespace(line, Some("s")),
            "kubectl muster fence o $(kubectl get rcl -n s o -o jsonpath='{.x}') -n s"
        );
        assert_eq!(in_namespace("bring back orders-a-1", Some("shop")), "bring back orders-a-1");
    }
}
