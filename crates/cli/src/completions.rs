//! `prony completions`: scripts for bash, zsh, fish and others.

use crate::args::{Args, CompletionsArgs};
use crate::{exit, output};
use anyhow::Result;
use clap::CommandFactory;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<u8> {
    // Into memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "prony", &mut script);
    output::write(None, &String::from_utf8_lossy(&script))?;
    Ok(exit::DONE)
}
