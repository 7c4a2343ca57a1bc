//! A NATS server on loopback, where one is installed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
#[derive(Debug)]
pub struct NatsServer {
    child: Child,
    address: String,
}

impl NatsServer {
    /// Starts one that listens on a port of 127.0.0.1, `-1` for one that the system chooses, with further options, and waits
    /// until it is ready. `None`, with a line that says so, where no server is installed.
    ///
    /// # Panics
    /// It ends before it is ready.
    #[must_use]
    pub fn start(port: &str, options: &[&str]) -> Option<Self> {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", port]).args(options).stderr(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            println!("skipped: no NATS server here (apt-get install nats-server)");
            return None;
        };
        let from = child.stderr.take().expect("it was piped");
        let mut server = Self { child, address: String::new() };
        let mut lines = BufReader::new(from).lines().map_while(Result::ok);
        let said: Vec<String> = lines.by_ref().take_while(|line| !line.contains("Server is ready")).collect();
        // What it says later must find an open pipe.
        std::thread::spawn(move || lines.count());
        let address = said.iter().find_map(|line| line.split_once("Listening for client connections on "));
        let (_, address) =
            address.unwrap_or_else(|| panic!("the NATS server did not become ready: {said:?}"));
        server.address = format!("nats://{address}");
        Some(server)
    }

    /// As `nats://127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for NatsServer {
    /// Kills it, and waits until it is gone.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
