//! README's quick start as it stands there, and what `muster up` says then: a page that lies fails here.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use muster_test_assets::{Binary, locate};
use rustix::process::{Signal, kill_process_group};

use super::stage::Stage;

/// All that is changed of what is typed: what was built for the tests takes the place of what would be built first.
const BUILD_AND_RUN: &str = "cargo run --release -- ";
/// What a person types who got to a client that asks for more. One that does not, does not read it.
const QUERY: &str = "SELECT 40 + 2;\n";

/// The lines of the blocks of code under a heading, without what is said of them.
fn blocks(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, section) = page.split_once(&format!("\n{heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fenced = section.split("```").skip(1).step_by(2);
    fenced.map(|block| block.lines().filter_map(command).collect()).collect()
}

/// What is to be typed of a line.
fn command(line: &str) -> Option<String> {
    let command = line.split(" # ").next()?.trim();
    (!command.is_empty() && !command.starts_with('#')).then(|| command.to_owned())
}

/// A person's shell in another terminal.
struct Terminal<'a> {
    stage: &'a Stage,
    path: OsString,
    exported: Vec<String>,
}

impl Terminal<'_> {
    /// Types a line; what is answered.
    fn types(&mut self, line: &str) -> String {
        if line.starts_with("export ") {
            self.exported.push(line.to_owned());
            return String::new();
        }
        let script = [self.exported.join("\n"), line.to_owned()].join("\n");
        let mut shell = self.stage.at_home(Path::new("/bin/sh"));
        shell.args(["-c", &script]).env("PATH", &self.path).env_remove("KUBECONFIG");
        let mut shell =
            shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Who does not ask does not read.
        drop(shell.stdin.take().unwrap().write_all(QUERY.as_bytes()));
        let output = shell.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}{errors}\n{}", self.stage.told());
        println!("$ {line}\n{said}{errors}");
        said
    }

    fn types_all(&mut self, lines: &[String]) -> Vec<(String, String)> {
        lines.iter().map(|line| (line.clone(), self.types(line))).collect()
    }
}

/// What was answered to the line that begins so.
fn answer<'a>(answers: &'a [(String, String)], begins: &str) -> &'a str {
    let found = answers.iter().find(|(line, _)| line.starts_with(begins));
    &found.unwrap_or_else(|| panic!("nobody says how to `{begins}`: {answers:#?}")).1
}

#[test]
fn real_readme_and_what_muster_up_says_are_true() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let blocks = blocks(&fs::read_to_string(page).unwrap(), "## Try it");
    let [start, look] = &blocks[..] else { panic!("two blocks: {blocks:#?}") };
    let [start] = &start[..] else { panic!("one line: {start:#?}") };
    for user in Stage::users() {
        are_true(Stage::new("readme", user), start, look);
    }
}

/// A path on which there is a kubectl that this user may run, wherever the one of the tests is.
fn path_with_kubectl(stage: &Stage) -> OsString {
    let tools = stage.root.join("tools");
    fs::create_dir(&tools).unwrap();
    let kubectl = locate().unwrap().path(Binary::Kubectl);
    assert!(Command::new("cp").arg(kubectl).arg(&tools).status().unwrap().success());
    let before = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&before))).unwrap()
}

/// What is typed to start it, and what to look at it.
fn are_true(mut stage: Stage, start: &str, look: &[String]) {
    let path = path_with_kubectl(&stage);
    stage.data = stage.root.join(".local/share/muster");
    let program = stage.root.join("muster");
    let typed = start.strip_prefix(BUILD_AND_RUN).unwrap_or_else(|| panic!("{start}"));
    let mut shell = stage.at_home(Path::new("/bin/sh"));
    shell.args(["-c", &format!("exec {} {typed}", program.display())]);
    shell.env("PATH", &path).env_remove("XDG_DATA_HOME").env_remove("KUBECONFIG");
    // As a terminal has it: a key that is pressed there is for the whole group.
    shell.process_group(0);
    let said = stage.start(shell);

    let mut terminal = Terminal { stage: &stage, path, exported: Vec::new() };
    let answers = terminal.types_all(look);
    look_sensible(&answers);
    let lines: Vec<String> = said.lines().filter(|line| line.starts_with("  ")).filter_map(command).collect();
    terminal.exported.clear();
    let answers = terminal.types_all(&lines);
    look_sensible(&answers);
    if lines.iter().any(|line| line.starts_with("mariadb ")) {
        assert!(answer(&answers, "mariadb ").contains("42"), "{answers:#?}");
    } else {
        assert!(answer(&answers, "muster-ledger read").contains("hello"), "{answers:#?}");
    }
    for line in ["kubectl muster stop clustering demo", "kubectl muster start clustering demo"] {
        answer(&answers, line);
    }
    terminal.types("kubectl muster wait demo");

    kill_process_group(stage.pid(), Signal::INT).unwrap();
    stage.until_ended();
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
    assert!(stage.data.join("kubeconfig").is_file(), "everything is kept where the page says");
    assert!(!stage.said().contains("panicked"), "{}", stage.said());
}

fn look_sensible(answers: &[(String, String)]) {
    let all = answer(answers, "kubectl get rcl,mbr");
    for name in ["replicatedcluster.muster.dev/demo ", "member.muster.dev/demo-a-2 "] {
        assert!(all.contains(name), "{all}");
    }
    assert!(answer(answers, "kubectl muster status demo").contains("demo-a-2"), "{answers:#?}");
    answer(answers, "kubectl delete pod demo-a-0-0");
    answer(answers, "kubectl muster wait demo");
}

#[test]
fn a_block_is_read_as_it_is_typed() {
    let page = "# A\n\n## Try it\n\nwords\n\n```\nrun it\n```\n\n```\n# only said\nlook # at it\n```\n\n## B\n\n```\nother\n```\n";
    assert_eq!(blocks(page, "## Try it"), [vec!["run it"], vec!["look"]]);
    assert_eq!(command("  a b   # c"), Some("a b".to_owned()));
    assert_eq!(command("  # c"), None);
}
