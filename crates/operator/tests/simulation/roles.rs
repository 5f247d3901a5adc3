//! The roles that Pods carry, by which clients find whom they are sent to: what each may carry, and what each is to carry.

use std::collections::BTreeMap;

use muster_api::names::{LABEL_ROLE, Role};
use muster_core::manager::report::Activity;
use serde_json::Value;

use super::stored::{MEMBERS, PODS, Stored, is_ending, name};
use super::truth::Truth;

/// The role that this Pod carries. Nobody is sent to one that is on its way out, whatever it carries.
pub(crate) fn role(pod: &Value) -> Option<&str> {
    pod["metadata"]["labels"][LABEL_ROLE].as_str().filter(|_| !is_ending(pod))
}

/// How many Pods carry which role.
pub(crate) fn counted(stored: &Stored) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    for pod in stored.all(PODS) {
        *counted.entry(role(pod).unwrap_or("none").to_owned()).or_default() += 1;
    }
    counted
}

impl Truth<'_> {
    /// The role that the Pod of this member carries.
    pub(crate) fn carries(&self, member: &str) -> Option<&str> {
        self.stored.pod(member).and_then(role)
    }

    /// The role that the Pod of this member is to carry when all is at rest.
    fn earned(&self, member: &str) -> Option<&'static str> {
        let doing = self.doing(member)?;
        match doing.role {
            Role::Primary => self.serves(member).then_some(Role::Primary.as_str()),
            Role::Secondary => {
                let able = matches!(doing.activity, Activity::Serving | Activity::Donor) && doing.synced;
                able.then_some(Role::Secondary.as_str())
            }
        }
    }

    /// Why this member may not carry the role that it carries: whoever writes goes to one that serves in the newest term, and
    /// whoever reads to one that runs.
    pub(crate) fn misled(&self, member: &str) -> Option<String> {
        let role = self.carries(member)?;
        let right = match role {
            "primary" => self.serves(member),
            _ => self.doing(member).is_some_and(|doing| doing.role == Role::Secondary),
        };
        (!right).then(|| format!("the Pod of {member} carries {role}, and does {:?}", self.doing(member)))
    }

    /// The members whose Pods do not carry what they are to carry when all is at rest.
    pub(crate) fn mislabelled(&self) -> Vec<String> {
        let members = self.stored.all(MEMBERS).into_iter().map(name);
        let wrong = members.filter(|member| {
            self.stored.pod(member).is_some() && self.carries(member) != self.earned(member)
        });
        let told = |member: &str| {
            let (carries, earned) = (self.carries(member), self.earned(member));
            format!("the Pod of {member} carries {carries:?}, not {earned:?}")
        };
        wrong.map(told).collect()
    }
}
