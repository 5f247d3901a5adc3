//! The program `kubectl-muster`; kubectl finds it on the path and runs it as `kubectl muster`.

use std::process::ExitCode;

use muster_plugin::commands::completion;
use muster_plugin::console::Console;
use muster_plugin::{Session, arguments, commands};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let console = Console::of_this_process();
    if completion::is_asked_by_kubectl(&words) {
        return runtime.block_on(completion::answer_kubectl(&words, &console));
    }
    let arguments = arguments::parse(&words);
    let session = Session::new(arguments.flags, console);
    match runtime.block_on(commands::run(&arguments.command, &session)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            session.console.complain(&failure.to_string());
            ExitCode::from(failure.exit_code())
        }
    }
}
