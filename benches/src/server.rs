//! The one server of a benchmark: prony's reference target, answering at once, on a CPU of its own.

use crate::case::PATH;
use crate::cpus::Cpus;
use crate::error::BenchError;
use collect::{ProcessTree, Roots};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// Arguments of the server; it takes a free port of loopback.
pub(crate) const ARGUMENTS: [&str; 3] = ["reference", "--listen", "127.0.0.1:0"];

/// A running server; it ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Whole address, path included.
    pub(crate) url: String,
    usage: ProcessTree,
    /// Held open so that the server's words never meet a closed pipe.
    _stderr: BufReader<ChildStderr>,
}

impl Server {
    /// Starts `prony reference` and reads where it listens.
    ///
    /// # Errors
    /// It cannot be started, or ends before it listens.
    pub(crate) fn start(prony: &Path, cpus: &Cpus) -> Result<Self, BenchError> {
        let mut command = Command::new(prony);
        command.args(ARGUMENTS).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = cpus.start_on(cpus.server, &mut command)?;
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let usage = ProcessTree::new(&Roots::default(), child.id());
        match address_in(&mut stderr) {
            Ok(address) => Ok(Self { child, url: format!("http://{address}{PATH}"), usage, _stderr: stderr }),
            Err(said) => {
                end(&mut child);
                Err(BenchError::Server(format!("did not say where it listens; its words: {said}")))
            }
        }
    }

    /// CPU time so far, in nanoseconds; absent where it cannot be read.
    pub(crate) fn cpu_ns(&mut self) -> Option<u64> {
        self.usage.read().ok().map(|usage| usage.cpu_ns)
    }

    /// Checks that it still runs.
    ///
    /// # Errors
    /// It has ended: what was measured since is worth nothing.
    pub(crate) fn check_alive(&mut self) -> Result<(), BenchError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                Err(BenchError::Server(format!("ended in the middle ({status}); run it by hand")))
            }
            Err(error) => Err(BenchError::Server(format!("cannot be waited for: {error}"))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may be gone already; either way it is waited for.
    let _ = child.kill();
    let _ = child.wait();
}

/// The address in the line `listening on ADDRESS`, or everything that was said before the end.
fn address_in(lines: &mut impl BufRead) -> Result<String, String> {
    let mut said = String::new();
    for line in lines.lines().map_while(Result::ok).take(100) {
        if let Some(address) = line.strip_prefix("listening on ") {
            return Ok(address.trim().to_owned());
        }
        said.push_str(&line);
        said.push('\n');
    }
    Err(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_behind_other_words() {
        let check = |said: &str, wanted: Result<&str, &str>| {
            let got = address_in(&mut said.as_bytes());
            assert_eq!(got.as_deref().map_err(String::as_str), wanted);
        };
        check("warning: x\nlistening on 127.0.0.1:39161\nmore\n", Ok("127.0.0.1:39161"));
        check("prony: cannot listen\n", Err("prony: cannot listen\n"));
        check("", Err(""));
    }
}
