//! What has been started so far, and how it ends: in one place, so that there is no way out that leaves some of it behind.

use anyhow::{Error, Result, anyhow};
use muster_local::machine::Machine;

use crate::operator::Running;

/// The parts that have to be stopped, as far as there are any yet.
#[derive(Default)]
pub(super) struct Started {
    pub(super) machine: Option<Machine>,
    pub(super) operator: Option<Running>,
}

impl Started {
    /// Why one of them cannot go on; waits for as long as all can.
    pub(super) async fn failed(&mut self) -> Error {
        let Self { machine, operator } = self;
        let operator = async {
            match operator {
                Some(operator) => operator.failed().await,
                None => std::future::pending().await,
            }
        };
        let machine = async {
            match machine {
                Some(machine) => anyhow!("a part of the node broke: {}", machine.failed().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            error = operator => error,
            error = machine => error,
        }
    }

    /// First nobody commands, then nobody runs.
    pub(super) async fn stop(self) -> Result<()> {
        let given_back = match self.operator {
            Some(operator) => operator.stop().await,
            None => Ok(()),
        };
        if let Some(machine) = self.machine {
            for left in machine.stop().await {
                eprintln!("muster: {left}");
            }
        }
        given_back
    }
}
