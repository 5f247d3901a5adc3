//! What a person has stopped stays stopped when `muster up` is started again. It says so, says what to type, and waits for nobody.

use super::stage::Stage;

/// Types `kubectl muster` as it was printed.
fn types(stage: &Stage, line: &str) {
    let words = line.strip_prefix("kubectl muster ").unwrap();
    let mut command = stage.at_home(&stage.data.join("bin/kubectl-muster"));
    command.args(words.split(' ')).env("KUBECONFIG", stage.data.join("kubeconfig"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

#[test]
fn what_was_stopped_is_said_at_the_next_start_and_goes_on_as_it_says() {
    let mut stage = Stage::new("paused", None);
    stage.up("ledger");
    let mut acknowledged = stage.append(1, 5);
    for what in ["clustering", "reconciliation"] {
        types(&stage, &format!("kubectl muster stop {what} demo"));
        stage.stop();
        let ready = stage.up("ledger");
        let resume = format!("kubectl muster start {what} demo");
        for said in [&stage.said(), &ready] {
            assert!(said.lines().any(|line| line.trim().starts_with(&resume)), "{resume}: {said}");
        }
        types(&stage, &resume);
        stage.until_ready();
        acknowledged.extend(stage.append(6, 8));
    }
    let entries = stage.entries();
    assert!(acknowledged.iter().all(|entry| entries.contains(entry)), "{acknowledged:?} of {entries:?}");
    stage.stop();
    let ready = stage.up("ledger");
    assert!(!stage.said().contains("kubectl muster start"), "{}", stage.said());
    assert_eq!(ready.matches("kubectl muster start clustering demo").count(), 1, "{ready}");
    stage.stop();
}
