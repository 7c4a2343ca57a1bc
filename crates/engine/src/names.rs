//! Name resolution for every connection: a thread of each worker asks, so that the worker never waits.
//!
//! Only where the plan asks for it; the channel is used once a connection, never once a request.

use crate::driver::SlotId;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use units::Nanos;

/// Resolves the target's name; an error is a text for people.
#[derive(Clone)]
pub struct Lookup(Arc<dyn Fn() -> Result<SocketAddr, String> + Send + Sync>);

impl Lookup {
    /// A lookup by this function, which may block.
    pub fn new(resolve: impl Fn() -> Result<SocketAddr, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(resolve))
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}

/// Which connection attempt asked: its slot and when it began, which tells it from later ones of the slot.
pub(crate) type Ticket = (SlotId, Nanos);

/// One worker's resolver; its thread ends with it.
#[derive(Debug)]
pub(crate) struct Names {
    questions: Sender<Ticket>,
    answers: Receiver<(Ticket, Result<SocketAddr, String>)>,
    pending: usize,
}

impl Names {
    /// Starts the thread.
    pub(crate) fn start(lookup: Lookup) -> std::io::Result<Self> {
        let (questions, asked) = channel::<Ticket>();
        let (answer, answers) = channel();
        std::thread::Builder::new().name("prony-names".to_owned()).spawn(move || {
            while let Ok(ticket) = asked.recv() {
                if answer.send((ticket, (lookup.0)())).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { questions, answers, pending: 0 })
    }

    pub(crate) fn ask(&mut self, ticket: Ticket) {
        // The thread ends only with this value.
        if self.questions.send(ticket).is_ok() {
            self.pending += 1;
        }
    }

    /// Whether an answer may come at any time.
    pub(crate) const fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// The next answer that has come.
    pub(crate) fn answer(&mut self) -> Option<(Ticket, Result<SocketAddr, String>)> {
        let answer = self.answers.try_recv().ok()?;
        self.pending -= 1;
        Some(answer)
    }
}
