//! The controllers beside the server: without them nothing is collected and no namespace ends, so it does not run on when
//! they stop.

use anyhow::{Error, anyhow};
use muster_apiserver::controllers::{self, Settings};
use muster_apiserver::server::Server;
use tokio::task::{JoinError, JoinHandle};

/// The controllers, if there are to be any; they end when this is dropped.
pub(crate) struct Controllers(Option<JoinHandle<()>>);

impl Controllers {
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn start(server: Server, authority: &str) -> Self {
        let settings = Settings { authority: Some(authority.to_owned()) };
        Self::run(controllers::run_with(server, settings))
    }

    fn run(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Some(tokio::spawn(task)))
    }

    /// Why they do not run any more; it waits for as long as they do, or for ever where there are none.
    pub(crate) async fn failed(&mut self) -> Error {
        let ended = match &mut self.0 {
            Some(task) => task.await,
            None => std::future::pending().await,
        };
        self.0 = None;
        anyhow!("the controllers stopped{}", why(ended))
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

fn why(ended: Result<(), JoinError>) -> String {
    let Err(Ok(panic)) = ended.map_err(JoinError::try_into_panic) else { return String::new() };
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| ": a panic".to_owned(), |text| format!(": {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn their_end_is_told() {
        let mut controllers = Controllers::run(async {});
        assert_eq!(controllers.failed().await.to_string(), "the controllers stopped");
    }

    #[tokio::test]
    async fn a_panic_is_told() {
        let mut controllers = Controllers::run(async { panic!("no such place") });
        assert_eq!(controllers.failed().await.to_string(), "the controllers stopped: no such place");
    }

    #[tokio::test]
    async fn while_they_run_nothing_is_told() {
        for mut controllers in [Controllers::run(std::future::pending()), Controllers::none()] {
            let told = tokio::select! {
                biased;
                _ = controllers.failed() => true,
                () = tokio::task::yield_now() => false,
            };
            assert!(!told);
        }
    }
}
