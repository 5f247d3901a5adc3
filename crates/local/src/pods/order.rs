//! What a container's spec asks for, as an order for its sandbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt as _;

use super::environment::{self, EnvironmentError};
use super::paths::{self, translate};
use super::sources::Sources;
use super::volumes::{self, VolumeError};
use super::{Isolation, left};
use crate::sandbox::{Mount, Order, View};

/// Where programs are on most machines, also where whoever started this has not said so.
pub(super) const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Why a container cannot be started as things are.
#[derive(Debug, thiserror::Error)]
pub(super) enum OrderError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Volume(#[from] VolumeError),
    #[error("cannot show what its mounts have in common: {0}")]
    Above(#[from] std::io::Error),
    #[error(
        "container {0:?} names no command: images are not pulled on this machine, so a command must be given"
    )]
    NoCommand(String),
    #[error("there is no command {program:?} on this machine: install what has it (looked in {place})")]
    NoProgram { program: String, place: String },
}

impl OrderError {
    /// The reason that a waiting container shows.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Environment(_) => "CreateContainerConfigError",
            Self::Volume(_) | Self::Above(_) => "ContainerCreating",
            Self::NoCommand(_) => "NoCommand",
            Self::NoProgram { .. } => "CommandNotFound",
        }
    }
}

/// What an order is made of, beside the container's own spec.
pub(super) struct Given<'a> {
    pub(super) pod: &'a Pod,
    pub(super) address: &'a str,
    pub(super) sources: &'a Sources,
    pub(super) places: &'a BTreeMap<String, PathBuf>,
    /// The directory of this container: its orders, and where its view is built.
    pub(super) directory: &'a Path,
    /// Where Muster's own programs are.
    pub(super) programs: &'a Path,
    pub(super) isolation: Isolation,
}

impl Given<'_> {
    /// The order for this container.
    pub(super) fn order(&self, container: &Container) -> Result<Order, OrderError> {
        let variables = environment::variables(self.pod, container, self.address, self.sources)?;
        let mounts = volumes::mounts(container, self.places)?;
        let words = container.command.iter().flatten().chain(container.args.iter().flatten());
        if container.command.as_ref().is_none_or(Vec::is_empty) {
            return Err(OrderError::NoCommand(container.name.clone()));
        }
        let apart = self.isolation == Isolation::Namespaces;
        let above = if apart { Vec::new() } else { paths::above(&mounts, &self.directory.join("above"))? };
        let seen = |text: &str| match above.iter().find(|above| Path::new(text) == above.at) {
            Some(above) => above.from.to_string_lossy().into_owned(),
            None if apart => text.to_owned(),
            None => translate(text, &mounts),
        };
        let command: Vec<String> = words.map(|word| seen(&environment::expand(word, &variables))).collect();
        let mut environment: BTreeMap<String, String> = self.basics();
        environment.extend(variables.iter().map(|(name, value)| (name.clone(), seen(value))));
        Self::find(&command[0], environment.get("PATH").map_or("", String::as_str), &mounts)?;
        let directory = container.working_dir.as_deref().map(seen);
        let default = if apart { Path::new("/") } else { self.directory };
        let identity = self.identity(container);
        Ok(Order {
            command,
            environment: environment.into_iter().collect(),
            directory: directory.map_or_else(|| default.to_owned(), PathBuf::from),
            user: identity.0,
            group: identity.1,
            groups: identity.2,
            pid_file: self.directory.join("pid"),
            noted: self.directory.join(left::NOTED),
            view: apart.then(|| self.view(mounts)),
        })
    }

    /// What every container's environment has.
    fn basics(&self) -> BTreeMap<String, String> {
        let inherited = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{inherited}:{USUAL_PATH}", self.programs.display());
        let home = std::env::var("HOME").unwrap_or_else(|_| "/".to_owned());
        let basics = [("PATH", path), ("HOME", home), ("HOSTNAME", self.pod.name_any())];
        basics.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// Sees that the program is there: what a registry would say of an image elsewhere is said here of a command.
    fn find(program: &str, path: &str, mounts: &[Mount]) -> Result<(), OrderError> {
        let missing =
            |place: &str| OrderError::NoProgram { program: program.to_owned(), place: place.to_owned() };
        if program.contains('/') {
            let real = translate(program, mounts);
            return if Path::new(&real).is_file() { Ok(()) } else { Err(missing(&real)) };
        }
        let found = path.split(':').any(|directory| Path::new(directory).join(program).is_file());
        if found { Ok(()) } else { Err(missing(path)) }
    }

    /// As whom: only root can be someone else.
    fn identity(&self, container: &Container) -> (Option<u32>, Option<u32>, Vec<u32>) {
        if !rustix::process::geteuid().is_root() {
            return (None, None, Vec::new());
        }
        let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let own = container.security_context.as_ref();
        let pod = self.pod.spec.as_ref().and_then(|spec| spec.security_context.as_ref());
        let user = number(own.and_then(|own| own.run_as_user).or(pod.and_then(|pod| pod.run_as_user)));
        let group = number(own.and_then(|own| own.run_as_group).or(pod.and_then(|pod| pod.run_as_group)));
        let more =
            pod.iter().flat_map(|pod| pod.supplemental_groups.iter().flatten().copied().chain(pod.fs_group));
        let more = more.filter_map(|group| number(Some(group))).collect();
        // As images do that name a user and no group.
        (user, group.or(user.map(|_| 0)), more)
    }

    fn view(&self, mut mounts: Vec<Mount>) -> View {
        let programs = self.programs.to_owned();
        mounts.insert(0, Mount { from: programs.clone(), at: programs, read_only: true });
        View { scratch: self.directory.join("scratch"), mounts, hostname: self.pod.name_any() }
    }
}
