//! The commands, one in a file or directory each.

pub mod completion;
pub mod member;
pub mod pause;
pub mod plan;
pub mod request;
pub mod status;
pub mod tree;
pub mod validate;
pub mod wait;

use crate::arguments::Command;
use crate::error::Failure;
use crate::session::Session;

/// Does what the command line says.
pub async fn run(command: &Command, session: &Session) -> Result<(), Failure> {
    match command {
        Command::Stop(options) => pause::run(options, pause::Wish::Stop, session).await,
        Command::Start(options) => pause::run(options, pause::Wish::Start, session).await,
        Command::Status(options) => status::run(options, session).await,
        Command::Tree(options) => tree::run(options, session).await,
        Command::Wait(options) => wait::run(options, session).await,
        Command::Plan(options) => Box::pin(plan::run(options, session)).await,
        Command::Validate(options) => validate::run(options, session).await,
        Command::Enable(options) => member::run(options, member::Wish::Enable, session).await,
        Command::Disable(options) => member::run(options, member::Wish::Disable, session).await,
        Command::Recover(options) => request::run(options, session).await,
        Command::Switchover(options) => request::run(options, session).await,
        Command::Fence(options) => request::run(options, session).await,
        Command::Forget(options) => request::run(options, session).await,
        Command::Rejoin(options) => request::run(options, session).await,
        Command::Completion(options) => completion::run(options, session),
    }
}
