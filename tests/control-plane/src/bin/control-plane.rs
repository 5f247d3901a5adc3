//! A control plane to try things on: prints the path of its kubeconfig, and serves until stdin closes.

use muster_test_control_plane::ControlPlane;
use std::error::Error;
use std::io::{self, Write};

fn main() -> Result<(), Box<dyn Error>> {
    // The shared one is never dropped, so this also shows that processes go without help from destructors.
    let plane = ControlPlane::shared()?;
    println!("{}", plane.kubeconfig().display());
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
