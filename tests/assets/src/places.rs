//! The places where assets may be, in the order in which they are looked at.

use crate::{Assets, ETCD, Incomplete, KUBERNETES, Missing};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where assets may be, as the environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// `KUBEBUILDER_ASSETS`, the ecosystem's own variable. Upstream's archives hold no
    /// kube-controller-manager, so it counts only when complete.
    pub kubebuilder: Option<PathBuf>,
    /// Muster's cache: `MUSTER_ASSETS`, or `muster/assets` in the user's cache directory.
    pub cache: Option<PathBuf>,
}

impl Places {
    /// The places that this process' environment names.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| env::var_os(name))
    }

    /// The places that these variables name; an empty variable counts as absent.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let user_cache = || path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
        Self {
            kubebuilder: path("KUBEBUILDER_ASSETS"),
            cache: path("MUSTER_ASSETS").or_else(|| user_cache().map(|dir| dir.join("muster/assets"))),
        }
    }

    /// The directory in the cache for the versions and the machine of today.
    pub fn cached(&self) -> Option<PathBuf> {
        let (os, arch) = (env::consts::OS, env::consts::ARCH);
        self.cache.as_ref().map(|c| c.join(format!("kubernetes-{KUBERNETES}-etcd-{ETCD}-{os}-{arch}")))
    }

    /// The first complete place, or what each of them lacks.
    pub fn locate(&self) -> Result<Assets, Missing> {
        let mut looked_at = Vec::new();
        for directory in self.kubebuilder.clone().into_iter().chain(self.cached()) {
            match Assets::in_directory(&directory) {
                Ok(assets) => return Ok(assets),
                Err(lacking) => looked_at.push(Incomplete { directory, lacking }),
            }
        }
        Err(Missing { looked_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Binary;
    use std::fs;
    use std::path::Path;

    fn places(variables: &[(&str, &str)]) -> Places {
        Places::from_variables(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
    }

    /// A directory that goes away with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("muster-places-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn fill(directory: &Path, binaries: &[Binary]) {
        fs::create_dir_all(directory).unwrap();
        for binary in binaries {
            fs::write(directory.join(binary.file_name()), "").unwrap();
        }
    }

    #[test]
    fn the_cache_is_muster_assets_then_xdg_then_home() {
        let all = [("MUSTER_ASSETS", "/m"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(places(&all).cache, Some("/m".into()));
        assert_eq!(places(&all[1..]).cache, Some("/x/muster/assets".into()));
        assert_eq!(places(&all[2..]).cache, Some("/h/.cache/muster/assets".into()));
        assert_eq!(places(&[]).cache, None);
    }

    #[test]
    fn an_empty_variable_counts_as_absent() {
        let places = places(&[("KUBEBUILDER_ASSETS", ""), ("MUSTER_ASSETS", ""), ("HOME", "/h")]);
        assert_eq!(places.kubebuilder, None);
        assert_eq!(places.cache, Some("/h/.cache/muster/assets".into()));
    }

    #[test]
    fn the_key_changes_with_each_version() {
        let cached = places(&[("MUSTER_ASSETS", "/m")]).cached().unwrap();
        let key = cached.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(key.starts_with(&format!("kubernetes-{KUBERNETES}-etcd-{ETCD}-")), "{key}");
    }

    #[test]
    fn kubebuilder_assets_come_first_when_complete() {
        let scratch = Scratch::new("first");
        let places = Places { kubebuilder: Some(scratch.0.join("kb")), cache: Some(scratch.0.join("cache")) };
        fill(&scratch.0.join("kb"), &Binary::ALL);
        fill(&places.cached().unwrap(), &Binary::ALL);
        assert_eq!(places.locate().unwrap().directory(), scratch.0.join("kb"));
    }

    #[test]
    fn incomplete_kubebuilder_assets_give_way_to_the_cache() {
        let scratch = Scratch::new("gives-way");
        let places = Places { kubebuilder: Some(scratch.0.join("kb")), cache: Some(scratch.0.join("cache")) };
        fill(&scratch.0.join("kb"), &[Binary::Etcd, Binary::KubeApiserver, Binary::Kubectl]);
        let missing = places.locate().unwrap_err();
        assert_eq!(missing.looked_at[0].lacking, [Binary::Etcdctl, Binary::KubeControllerManager]);
        assert_eq!(missing.looked_at[1].lacking, Binary::ALL);

        fill(&places.cached().unwrap(), &Binary::ALL);
        assert_eq!(places.locate().unwrap().directory(), places.cached().unwrap());
    }
}
