//! `prony targets`: what experiments can use, what is missing for it, and whether it keeps the contract.

mod backing;
mod bench;
mod list;
mod place;
mod words;

use crate::args::{TargetsArgs, TargetsCommand, TargetsNewArgs};
use crate::exit;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn targets(args: &TargetsArgs) -> Result<u8> {
    match &args.command {
        None => list::list(args.list.format),
        Some(TargetsCommand::List(args)) => list::list(args.format),
        Some(TargetsCommand::Check(args)) => bench::check(args),
        Some(TargetsCommand::Build(args)) => bench::build(args),
        Some(TargetsCommand::New(args)) => new(args),
    }
}

/// The folder that holds `targets/`.
fn project() -> PathBuf {
    plan::project_above(Path::new("here"))
}

fn new(args: &TargetsNewArgs) -> Result<u8> {
    let folder = launch::scaffold(&project(), &args.name, args.like.as_deref())?;
    let mut out = crate::output::stdout();
    writeln!(out, "made {}", folder.display())?;
    writeln!(
        out,
        "next: prony targets check {0}, then [[target]] use = \"{0}\" in an experiment",
        args.name
    )?;
    Ok(exit::DONE)
}
