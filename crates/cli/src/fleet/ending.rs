//! `prony fleet drain` and `prony fleet stop`: ends the agents of a fleet, and says of each what became of it.

use super::doing;
use crate::{exit, interrupt, output};
use anyhow::Result;
use generate::agents::{Ending, Progress, end as order};
use plan::fleet as settings;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// How often Ctrl-C is looked at.
const POLL: Duration = Duration::from_millis(100);

pub(super) fn end(argument: &str, ending: Ending) -> Result<u8> {
    let fleet = settings::read(argument)?;
    let stop = interrupt::stop_flag()?;
    let mut code = exit::DONE;
    let heard = order(&fleet, ending);
    loop {
        match heard.recv_timeout(POLL) {
            Ok((number, progress)) => {
                let name = &fleet.agents[number].name;
                let line = match progress {
                    Progress::Took(state) => format!("{name}: {}", doing(&state)),
                    Progress::Ended => format!("{name}: ended"),
                    Progress::NoNeed => format!("{name}: nothing to end, it lives with its load only"),
                    Progress::Failed(error) => {
                        code = exit::FAILED;
                        error.to_string()
                    }
                };
                output::write(None, &format!("{line}\n"))?;
            }
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                output::say!("interrupted; agents that took the order end all the same");
                return Ok(exit::INTERRUPTED);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(code),
        }
    }
}
