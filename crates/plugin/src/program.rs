//! The program `kubectl-muster`: what is typed, and how it runs.

use std::process::ExitCode;

use crate::commands::completion;
use crate::console::Console;
use crate::{Session, arguments, commands};

/// Runs the program with these words, its own name the first.
pub fn program(words: &[String]) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let console = Console::of_this_process();
    if completion::is_asked_by_kubectl(words) {
        return runtime.block_on(completion::answer_kubectl(words, &console));
    }
    let arguments = arguments::parse(words);
    let session = Session::new(arguments.flags, console);
    match runtime.block_on(commands::run(&arguments.command, &session)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            session.console.complain(&failure.to_string());
            ExitCode::from(failure.exit_code())
        }
    }
}
