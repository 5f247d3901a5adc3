//! `completion`, and the answers to kubectl's own.

use crate::servers::on_both;

#[test]
fn scripts_and_names_are_completed() {
    on_both("completion", |stage| {
        for (shell, word) in
            [("bash", "complete -F"), ("zsh", "#compdef kubectl-muster"), ("fish", "complete -c")]
        {
            stage.muster(&format!("completion {shell}")).succeeded().says(&[word, "switchover"]);
        }
        stage.cluster("orders", 1);
        stage.member("orders", 0);
        let namespace = &stage.namespace;
        assert_eq!(stage.complete(&["st"]).succeeded().out, "stop\nstart\nstatus\n:4\n");
        assert_eq!(stage.complete(&["status", "-n", namespace, ""]).succeeded().out, "orders\n:4\n");
        let out = stage.complete(&["fence", "orders", "-n", namespace, ""]).succeeded().out;
        assert_eq!(out, "orders-a-0\n:4\n");
        assert_eq!(stage.complete(&["wait", "--ti"]).succeeded().out, "--timeout\n:4\n");
        // As the shell's completion asks it.
        let words = ["__complete", "muster", "stop", ""];
        stage.kubectl(&words).succeeded().says(&["clustering", "reconciliation"]);
    });
}
