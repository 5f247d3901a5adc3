//! Writes the manifest of every CRD into the directory that is its only argument.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args_os().nth(1).map(PathBuf::from).ok_or("usage: crds DIRECTORY")?;
    fs::create_dir_all(&directory)?;
    for (name, manifest) in muster_api::crds::manifests()? {
        fs::write(directory.join(name), manifest)?;
    }
    Ok(())
}
