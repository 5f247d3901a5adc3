//! A scene: steps that both servers see, and a comparison after each.

use std::fmt::Write;
use std::sync::OnceLock;

use muster_test_control_plane::ControlPlane;

use crate::mask::mask;
use crate::shell::Shell;

/// A comment before a step that says why what is printed may differ; how kubectl exits may not.
const MAY_DIFFER: &str = "# differs: ";

/// A comment before a step that says why kubectl is to fail there. Every other step succeeds on the real server: one that fails on
/// both by mistake would otherwise compare nothing.
const FAILS: &str = "# fails: ";

/// Lines that a report shows of one difference.
const MOST_LINES: usize = 30;

/// The steps of a scene: what stands between empty lines.
fn steps(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|step| step.lines().any(|line| !line.starts_with('#')))
}

/// Plays a scene on both servers, and says where they differ.
pub(crate) fn play(name: &str, text: &str) {
    let real = ControlPlane::shared().expect("a real control plane");
    let real = Shell::new(&format!("{name}-real"), real.kubeconfig());
    let ours = Shell::new(&format!("{name}-ours"), ours());
    let mut differences = String::new();
    for step in steps(text) {
        let (expected, got) = (real.run(step), ours.run(step));
        let free = step.lines().any(|line| line.starts_with(MAY_DIFFER));
        let seen = |output: &std::process::Output| {
            let text = if free { Default::default() } else { (mask(&output.stdout), mask(&output.stderr)) };
            (output.status.code(), text)
        };
        let to_fail = step.lines().any(|line| line.starts_with(FAILS));
        if expected.status.success() == to_fail {
            let said = mask(&expected.stderr);
            let _ =
                writeln!(differences, "==== {step}\nreal exits with {:?}\n{said}", expected.status.code());
        }
        if seen(&expected) != seen(&got) {
            let _ = writeln!(differences, "==== {step}\n{}", compare(&expected, &got));
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// What each said, the lines that are not in the other marked.
fn compare(expected: &std::process::Output, got: &std::process::Output) -> String {
    let mut text =
        format!("real exits with {:?}, ours with {:?}\n", expected.status.code(), got.status.code());
    for (name, real, ours) in
        [("stdout", &expected.stdout, &got.stdout), ("stderr", &expected.stderr, &got.stderr)]
    {
        let (real, ours) = (mask(real), mask(ours));
        if real == ours {
            continue;
        }
        let only = |lines: &str, others: &str, sign: char| {
            let others: Vec<&str> = others.lines().collect();
            let only = lines.lines().filter(|line| !others.contains(line));
            only.take(MOST_LINES).fold(String::new(), |all, line| format!("{all}{name} {sign} {line}\n"))
        };
        let lines = only(&real, &ours, '-') + &only(&ours, &real, '+');
        text += if lines.is_empty() { "the same lines in another order\n" } else { &lines };
    }
    text
}

/// The kubeconfig of our server, which all scenes share. It ends when this process does.
fn ours() -> &'static std::path::Path {
    static OURS: OnceLock<crate::shell::Ours> = OnceLock::new();
    // The real one here has no kube-controller-manager either.
    OURS.get_or_init(|| crate::shell::Ours::start(&["--no-controllers"])).kubeconfig()
}
