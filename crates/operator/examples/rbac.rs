//! Writes the operator's roles into the directory that is its only argument.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args_os().nth(1).map(PathBuf::from).ok_or("usage: rbac DIRECTORY")?;
    fs::create_dir_all(&directory)?;
    for (name, manifest) in muster_operator::rbac::manifests() {
        fs::write(directory.join(name), manifest)?;
    }
    Ok(())
}
