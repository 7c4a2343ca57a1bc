//! One connection: two threads that pass bytes on, and the conversation that both read.

use crate::exchange::{Conversation, Exchange};
use crate::log::Writer;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const BUFFER_BYTES: usize = 32 << 10;

/// A connection whose threads may run.
pub(crate) struct Open {
    client: TcpStream,
    target: TcpStream,
    running: Arc<AtomicUsize>,
}

/// What both threads share.
struct Shared {
    conversation: Mutex<Conversation>,
    running: Arc<AtomicUsize>,
    from: IpAddr,
    log: Writer,
}

impl Open {
    /// Connects to `to` and starts to pass bytes on.
    pub(crate) fn begin<'scope>(
        scope: &'scope Scope<'scope, '_>,
        client: TcpStream,
        from: SocketAddr,
        to: SocketAddr,
        log: Writer,
    ) -> std::io::Result<Self> {
        let target = TcpStream::connect_timeout(&to, CONNECT_TIMEOUT)?;
        for stream in [&client, &target] {
            stream.set_nodelay(true)?;
        }
        let running = Arc::new(AtomicUsize::new(2));
        let shared = Arc::new(Shared {
            conversation: Mutex::new(Conversation::new(log.bodies_max())),
            running: running.clone(),
            from: from.ip(),
            log,
        });
        let ways = [
            (client.try_clone()?, target.try_clone()?, true),
            (target.try_clone()?, client.try_clone()?, false),
        ];
        for (from, to, is_client) in ways {
            let shared = shared.clone();
            scope.spawn(move || shared.pass(from, to, is_client));
        }
        Ok(Self { client, target, running })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.running.load(Ordering::Acquire) == 0
    }

    /// Ends it now.
    pub(crate) fn end(&self) {
        for stream in [&self.client, &self.target] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    /// Passes one direction on until it ends, and says so to the other side.
    fn pass(&self, mut from: TcpStream, mut to: TcpStream, is_client: bool) {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = &buffer[..read];
            // Read before it is passed on, so that an answer never comes before its request was seen.
            self.read(|conversation, out| match is_client {
                true => conversation.client_sent(bytes, out),
                false => conversation.target_sent(bytes, out),
            });
            if to.write_all(bytes).is_err() {
                let _ = from.shutdown(Shutdown::Read);
                break;
            }
        }
        if !is_client {
            self.read(Conversation::target_ended);
        }
        let _ = to.shutdown(Shutdown::Write);
        if self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.read(Conversation::ended);
            self.log.connection_ended(self.lock().is_lost);
        }
    }

    fn read(&self, read: impl FnOnce(&mut Conversation, &mut Vec<Exchange>)) {
        let mut out = Vec::new();
        read(&mut self.lock(), &mut out);
        out.into_iter().for_each(|exchange| self.log.write(self.from, &exchange));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
