//! A server of somebody else that a test starts, such as Prometheus, on a port of its own.

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};

/// It ends with the test.
pub(crate) struct Program {
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Program {
    /// Starts the command for an address; nobody has to answer there yet.
    pub(crate) fn start(errors: Stdio, command: impl FnOnce(SocketAddr) -> Command) -> Self {
        // Such a server cannot be given port 0: one that was free a moment ago.
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = command(addr).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
        Self { child, addr }
    }

    /// An answer, head and body; empty where nobody listens.
    pub(crate) fn get(&self, path: &str) -> String {
        get(self.addr, path)
    }

    /// The body of an answer.
    pub(crate) fn body(&self, path: &str) -> String {
        body(&self.get(path)).to_owned()
    }
}

/// An answer, head and body, of HTTP/1.0, so that nothing is chunked; empty where nobody listens.
pub(crate) fn get(addr: impl ToSocketAddrs + Display, path: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(&addr) else { return String::new() };
    let _ = write!(stream, "GET {path} HTTP/1.0\r\nHost: {addr}\r\n\r\n");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// The body of an answer.
pub(crate) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
