//! Muster's own kinds, for tests that need them.

use std::sync::OnceLock;

use crate::{ControlPlane, Error};

/// Where they are.
const DEFINITIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/crds");
const DONE: &str = "--for=condition=Established";

impl ControlPlane {
    /// The shared control plane with Muster's own kinds; the first caller installs them.
    pub fn shared_with_definitions() -> Result<&'static Self, &'static Error> {
        static INSTALLED: OnceLock<Result<(), Error>> = OnceLock::new();
        let plane = Self::shared()?;
        INSTALLED.get_or_init(|| plane.install_definitions()).as_ref()?;
        Ok(plane)
    }

    /// Installs Muster's own kinds, and waits until they are served.
    pub fn install_definitions(&self) -> Result<(), Error> {
        for arguments in
            [&["apply", "-f", DEFINITIONS][..], &["wait", DONE, "--timeout=60s", "-f", DEFINITIONS]]
        {
            let said = self.kubectl(arguments).map_err(Error::io("run kubectl"))?;
            if !said.status.success() {
                let said = String::from_utf8_lossy(&said.stderr).into_owned();
                return Err(Error::Definitions(said));
            }
        }
        Ok(())
    }
}
