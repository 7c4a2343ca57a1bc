//! TLS of one connection to the reference target: a rustls session between the socket and the requests.

use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use std::io::{Read, Write};
use std::sync::Arc;

/// Handshakes that ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Handshakes {
    pub(super) full: u64,
    pub(super) resumed: u64,
}

/// A session.
pub(super) struct Secure {
    session: ServerConnection,
    /// Whether the handshake's end was counted.
    counted: bool,
}

impl Secure {
    /// `None` where rustls refuses the configuration.
    pub(super) fn new(config: &Arc<ServerConfig>) -> Option<Box<Self>> {
        let mut session = ServerConnection::new(config.clone()).ok()?;
        session.set_buffer_limit(None);
        Some(Box::new(Self { session, counted: false }))
    }

    /// Takes cipher text in and puts plain text behind `input`, and what TLS itself answers behind `output`. False
    /// when the session is over; an alert may stand in `output` then.
    pub(super) fn read(
        &mut self,
        mut cipher: &[u8],
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        handshakes: &mut Handshakes,
    ) -> bool {
        let mut lives = true;
        while lives && !cipher.is_empty() {
            let taken = self.session.read_tls(&mut cipher).unwrap_or(0);
            let state = self.session.process_new_packets();
            if let Ok(state) = &state
                && state.plaintext_bytes_to_read() > 0
            {
                let start = input.len();
                input.resize(start + state.plaintext_bytes_to_read(), 0);
                lives = self.session.reader().read_exact(&mut input[start..]).is_ok();
            }
            lives &= taken > 0 && state.is_ok_and(|state| !state.peer_has_closed());
        }
        self.count(handshakes);
        self.drain(output);
        lives
    }

    fn count(&mut self, handshakes: &mut Handshakes) {
        if self.counted || self.session.is_handshaking() {
            return;
        }
        self.counted = true;
        match self.session.handshake_kind() {
            Some(HandshakeKind::Resumed) => handshakes.resumed += 1,
            _ => handshakes.full += 1,
        }
    }

    /// Puts `plain` as records behind `output`, and close_notify after it where `is_last`.
    pub(super) fn write(&mut self, plain: &[u8], is_last: bool, output: &mut Vec<u8>) {
        // Writing to memory without a limit cannot fail.
        let _ = self.session.writer().write_all(plain);
        if is_last {
            self.session.send_close_notify();
        }
        self.drain(output);
    }

    fn drain(&mut self, output: &mut Vec<u8>) {
        while self.session.wants_write() && self.session.write_tls(output).is_ok() {}
    }
}
