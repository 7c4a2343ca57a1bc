//! The one server of a benchmark: bench-server, on a CPU of its own, and what the harness asks of it.

use crate::case::Case;
use crate::cpus::Cpus;
use crate::error::BenchError;
use collect::{ProcessTree, Roots};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A question of the harness is answered within this time, or the server is stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server; it ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    plain: String,
    secured: String,
    usage: ProcessTree,
    /// Held open so that the server never meets a closed pipe.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts the program and reads where it listens.
    ///
    /// # Errors
    /// It cannot be started, or ends before it listens.
    pub(crate) fn start(program: &Path, cpus: &Cpus) -> Result<Self, BenchError> {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = cpus.start_on(cpus.server, &mut command)?;
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let usage = ProcessTree::new(&Roots::default(), child.id());
        let mut line = String::new();
        // What cannot be read is an empty line, which says no addresses.
        let _ = stdout.read_line(&mut line);
        match addresses_in(&line) {
            Some((plain, secured)) => Ok(Self { child, plain, secured, usage, _stdout: stdout }),
            None => {
                end(&mut child);
                Err(BenchError::Server(format!("did not say where it listens, but: {line}")))
            }
        }
    }

    /// The whole address of what a case asks for.
    pub(crate) fn url(&self, case: &Case) -> String {
        let (scheme, address) = if case.tls { ("https", &self.secured) } else { ("http", &self.plain) };
        format!("{scheme}://{address}{}", case.path)
    }

    /// Requests answered so far, without those of the harness.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) fn requests(&self) -> Result<u64, BenchError> {
        let body = self.ask("counts")?;
        requests_in(&String::from_utf8_lossy(&body))
            .ok_or_else(|| BenchError::Server("gave no count of requests".to_owned()))
    }

    /// Forgets all stamps and takes new ones; from now on the server does not sleep.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) fn stamps_begin(&self) -> Result<(), BenchError> {
        self.ask("stamps/begin").map(drop)
    }

    /// All stamps since then, as bytes for [`crate::pacing::read`].
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) fn stamps_end(&self) -> Result<Vec<u8>, BenchError> {
        self.ask("stamps/end")
    }

    /// The body of the answer to a question of the harness.
    fn ask(&self, what: &str) -> Result<Vec<u8>, BenchError> {
        let exchange = || {
            let mut socket = TcpStream::connect(&self.plain)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            write!(socket, "GET /-/{what} HTTP/1.1\r\nHost: bench\r\n\r\n")?;
            body_of(&mut BufReader::new(socket))
        };
        exchange().map_err(|error: io::Error| BenchError::Server(format!("does not answer: {error}")))
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

/// The addresses in the line `listening on HTTP HTTPS`.
fn addresses_in(line: &str) -> Option<(String, String)> {
    let (plain, secured) = line.trim().strip_prefix("listening on ")?.split_once(' ')?;
    Some((plain.to_owned(), secured.to_owned()))
}

fn requests_in(counts: &str) -> Option<u64> {
    counts.lines().find_map(|line| line.strip_prefix("requests "))?.parse().ok()
}

/// The body of an answer with a length.
fn body_of(answer: &mut impl io::BufRead) -> io::Result<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if answer.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok();
        }
    }
    let length: u64 = length.ok_or_else(|| io::Error::other("an answer without a length"))?;
    let mut body = Vec::new();
    answer.take(length).read_to_end(&mut body)?;
    if body.len() as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_counts_are_found() {
        let both = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(
            addresses_in("listening on 127.0.0.1:1 127.0.0.1:2\n"),
            both("127.0.0.1:1", "127.0.0.1:2")
        );
        assert_eq!(addresses_in("listening on 127.0.0.1:1\n"), None);
        assert_eq!(addresses_in(""), None);
        assert_eq!(requests_in("requests 12\nconnections 3\n"), Some(12));
        assert_eq!(requests_in("connections 3\n"), None);
    }

    #[test]
    fn a_body_is_read_by_its_length_and_a_cut_one_is_an_error() {
        let read = |text: &str| body_of(&mut text.as_bytes()).map_err(|error| error.kind());
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd"), Ok(b"abc".to_vec()));
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(read("HTTP/1.1 200 OK\r\n\r\n"), Err(io::ErrorKind::Other));
        assert_eq!(read("HTTP/1.1 200"), Err(io::ErrorKind::UnexpectedEof));
    }
}
