//! `--setup` and `--teardown`: the user's programs around a load. Their output goes to standard error.

use crate::args::LoadArgs;
use anyhow::{Context as _, Result, anyhow};
use plan::hooks::resolve;
use runner::hooks::Hooks;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Most bytes that are shown of each program's output.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// Runs `load` between the two programs. The second runs once the first has begun, whatever becomes of the load.
pub(super) fn around(args: &LoadArgs, stop: &AtomicBool, load: impl FnOnce() -> Result<u8>) -> Result<u8> {
    let given = &args.hooks;
    let plan =
        resolve((given.setup.as_deref(), given.teardown.as_deref()), given.hook_timeout, "--hook-timeout")
            .map_err(|problem| {
                anyhow!("--setup, --teardown: {}\n  remedy: {}", problem.cause, problem.remedy)
            })?;
    if plan.is_empty() {
        return load();
    }
    let launcher = std::env::current_exe().context("cannot find prony's own binary")?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder for the output of --setup")?;
    let hooks = Hooks::new(&plan, &args.url, folder.path(), &launcher);
    let set_up = hooks.set_up(stop);
    let shows = |name: &str| (!args.result.quiet).then(|| show(&folder.path().join(name)));
    let loaded = match set_up {
        Ok(()) => {
            shows("setup.log");
            load()
        }
        Err(error) => Err(error.into()),
    };
    let torn_down = hooks.tear_down();
    if torn_down.is_ok() {
        shows("teardown.log");
    }
    // The load's own failure is the first cause.
    let code = loaded?;
    torn_down?;
    Ok(code)
}

/// The end of an output; of one that is not there, nothing.
fn show(log: &Path) {
    let text = std::fs::read(log).unwrap_or_default();
    let _ = std::io::stderr().write_all(&text[text.len().saturating_sub(SHOWN_BYTES_MAX)..]);
}
