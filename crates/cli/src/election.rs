//! The leader election of an operator, as a task: it may end by itself, and whoever stops it afterwards must not wait for it again.

use std::error::Error;

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An election that runs until it is stopped, or breaks.
pub(crate) struct Election<E> {
    /// None once its end was told.
    task: Option<JoinHandle<Result<(), E>>>,
    stop: Option<oneshot::Sender<()>>,
}

impl<E: Error + Send + Sync + 'static> Election<E> {
    /// Starts what is made of the wish to stop.
    pub(crate) fn start<F>(run: impl FnOnce(oneshot::Receiver<()>) -> F) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        Self { task: Some(tokio::spawn(run(stopped))), stop: Some(stop) }
    }

    /// Why it ended by itself; waits for as long as it goes on. It is told once.
    pub(crate) async fn failed(&mut self) -> anyhow::Error {
        let Some(task) = &mut self.task else { return std::future::pending().await };
        let ended = task.await;
        self.task = None;
        match ended {
            Err(error) => anyhow::Error::new(error).context("the leader election broke"),
            Ok(Err(error)) => anyhow::Error::new(error).context("the Lease was lost while work went on"),
            Ok(Ok(())) => anyhow!("the leader election ended by itself"),
        }
    }

    /// Ends it, and waits until the Lease is given back. One whose end was told has nothing to give back.
    pub(crate) async fn stop(mut self) -> Result<()> {
        drop(self.stop.take());
        let Some(task) = self.task else { return Ok(()) };
        task.await.context("the leader election broke")?.context("the Lease was not given back")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn ends(with: Result<(), io::Error>) -> Election<io::Error> {
        Election::start(|_| async { with })
    }

    #[tokio::test]
    async fn one_that_ended_by_itself_is_told_and_can_still_be_stopped() {
        for (with, said) in [
            (Ok(()), "the leader election ended by itself"),
            (Err(io::Error::other("taken")), "the Lease was lost while work went on: taken"),
        ] {
            let mut election = ends(with);
            assert_eq!(format!("{:#}", election.failed().await), said);
            election.stop().await.unwrap();
        }
        let mut broken = Election::<io::Error>::start(|_| async { panic!("no such place") });
        assert!(format!("{:#}", broken.failed().await).starts_with("the leader election broke: "));
        broken.stop().await.unwrap();
    }

    #[tokio::test]
    async fn one_that_goes_on_gives_back_what_it_has_when_it_is_stopped() {
        let (given, back) = oneshot::channel();
        let election = Election::<io::Error>::start(|stopped| async move {
            drop(stopped.await);
            let _ = given.send(());
            Ok(())
        });
        election.stop().await.unwrap();
        back.await.unwrap();
        let refused = ends(Err(io::Error::other("gone"))).stop().await.unwrap_err();
        assert_eq!(format!("{refused:#}"), "the Lease was not given back: gone");
    }

    #[tokio::test]
    async fn whoever_asks_while_it_goes_on_waits_and_takes_nothing_away() {
        let mut election = Election::<io::Error>::start(|stopped| async {
            drop(stopped.await);
            Ok(())
        });
        tokio::select! {
            biased;
            error = election.failed() => panic!("{error:#}"),
            () = tokio::task::yield_now() => {}
        }
        election.stop().await.unwrap();
    }
}
