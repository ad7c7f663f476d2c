//! Writes a manual page for each command into a folder, from the description of the command line.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("name the folder: cargo run --example man_pages -- DIR"))?;
    fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(bursar::cli::command(), folder)
}
