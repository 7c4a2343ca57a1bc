//! `prony serve`: the live lab over a folder of runs.

use crate::args::ServeArgs;
use crate::{exit, output};
use anyhow::{Context as _, Result};
use serve::{Options, Server};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where experiment files are where none is named.
const EXPERIMENTS: &str = "experiments";

pub(crate) fn serve(args: &ServeArgs) -> Result<u8> {
    let token = match &args.token_file {
        Some(file) => Some(serve::read_token(file)?),
        None if !args.listen.ip().is_loopback() => Some(serve::made_token()?),
        None => None,
    };
    let is_made = args.token_file.is_none();
    let server = Server::bind(Options {
        runs: runs(&args.runs)?,
        experiments: args.experiments.clone().or_else(|| existing(Path::new(EXPERIMENTS))),
        listen: args.listen,
        token: token.clone(),
        names: args.names.clone(),
        launcher: std::env::current_exe().context("cannot find prony's own binary")?,
        assets: assets::lab(),
        is_quiet: true,
        only_metrics: false,
    })?;
    let page = format!("http://{}/", server.addr());
    // After the `#`, which no browser sends to a server or a proxy; the page takes it out of the address at once.
    let address = match token.filter(|_| is_made) {
        Some(token) => format!("{page}#token={token}"),
        None => page,
    };
    output::write(None, &format!("prony lab: {address}\n"))?;
    crate::output::say!("Ctrl-C ends it; runs that were started from it go on");
    if args.open {
        open(&address);
    }
    server.run_until_interrupted()?;
    Ok(exit::DONE)
}

/// The folder of runs; the default one is made, as `prony run` would make it.
fn runs(folder: &Path) -> Result<PathBuf> {
    if folder == Path::new("runs") && !folder.exists() {
        std::fs::create_dir(folder).context("cannot make the folder runs")?;
    }
    Ok(folder.to_owned())
}

fn existing(folder: &Path) -> Option<PathBuf> {
    folder.is_dir().then(|| folder.to_owned())
}

/// Shows the lab in the browser; where that cannot be had, the address was printed.
fn open(address: &str) {
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    if let Err(error) = quiet(Command::new("xdg-open").arg(address)) {
        crate::output::say!("note: the browser cannot be opened ({error}); open the address yourself");
    }
}
