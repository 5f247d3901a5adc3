//! The processes of members: found, and killed.

use std::fs;

use rustix::process::{Pid, Signal};

use super::Cluster;

impl Cluster {
    /// The agent of a member, which is the first process of its container.
    pub(crate) fn agent(&self, member: &str) -> Option<Pid> {
        let uid = self.pod(member)?.metadata.uid?;
        let file = self.world().data().join("pods").join(uid).join("containers/main/pid");
        let pid: i32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
        let pid = Pid::from_raw(pid)?;
        rustix::process::test_kill_process(pid).is_ok().then_some(pid)
    }

    /// The server of a member.
    pub(crate) fn application(&self, member: &str) -> Option<Pid> {
        let agent = self.agent(member)?.as_raw_nonzero().get();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let mut all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let serves = |pid: i32| {
            let command = command_of(pid);
            self.software.is_server(&command.split(|byte| *byte == 0).collect::<Vec<_>>())
        };
        let found = all.find(|pid| parent_of(*pid) == Some(agent) && serves(*pid));
        found.and_then(Pid::from_raw)
    }

    /// Kills the agent of a member, and its server with it.
    pub(crate) fn kill_agent(&self, member: &str) {
        let agent = self.agent(member);
        send(agent.unwrap_or_else(|| panic!("{member} has no agent")), Signal::KILL);
    }

    /// Kills the server of a member; false if it does not run.
    pub(crate) fn kill_application(&self, member: &str) -> bool {
        let application = self.application(member);
        application.inspect(|pid| send(*pid, Signal::KILL)).is_some()
    }

    /// Waits until the server of a member runs.
    pub(crate) fn until_runs(&self, member: &str) -> Pid {
        self.until_found(&format!("{member} runs"), || self.application(member))
    }
}

/// Sends a signal; who has ended already does not mind.
pub(crate) fn send(pid: Pid, signal: Signal) {
    let _ = rustix::process::kill_process(pid, signal);
}

/// Whether a server of Galera sends a copy of everything to another: by the script that it runs for that.
pub(crate) fn sends_a_copy(server: Pid) -> bool {
    let server = server.as_raw_nonzero().get();
    let mut all = fs::read_dir("/proc").unwrap().flatten();
    all.any(|entry| {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        pid.filter(|pid| parent_of(*pid) == Some(server)).is_some_and(|pid| {
            let command = String::from_utf8_lossy(&command_of(pid)).replace(['\0', '\''], " ");
            command
                .split_whitespace()
                .collect::<Vec<_>>()
                .windows(2)
                .any(|words| words == ["--role", "donor"])
        })
    })
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// What a process was started with.
fn command_of(pid: i32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}
