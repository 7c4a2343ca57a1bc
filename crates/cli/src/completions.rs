//! `prony completions`: scripts for bash, zsh, fish and others.

use crate::args::{Args, CompletionsArgs};
use crate::exit;
use anyhow::Result;
use clap::CommandFactory;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<u8> {
    clap_complete::generate(args.shell, &mut Args::command(), "prony", &mut std::io::stdout());
    Ok(exit::DONE)
}
