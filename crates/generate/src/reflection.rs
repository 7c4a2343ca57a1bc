//! A server that is asked, before the load, what its calls take.
//!
//! Invariants: nothing is connected before the first question; one connection and one deadline for all questions; a server
//! that cannot be reached is tried once.

use crate::tls;
use plan::{Ask, Reach, Unanswered, Wrong};
use probe::grpc::{CallError, call};
use probe::{Limits, Session};
use schema::text::cause_and_remedy;
use std::cell::RefCell;
use std::time::Duration;
use wire::grpc::{Code, MESSAGE_BYTES_MAX, PREFIX_BYTES};

/// For all questions: files may need as many round trips as there are imports.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer: one message.
const BODY_BYTES_MAX: usize = MESSAGE_BYTES_MAX as usize + PREFIX_BYTES;
/// A status of HTTP that says that there is nothing of that name.
const NOT_FOUND: u16 = 404;

/// A server that is asked; `reach` says where it is.
#[derive(Debug)]
pub struct Server<F> {
    reach: F,
    /// Once it was asked: the connection, or why there is none.
    talk: RefCell<Option<Result<Talk, Unanswered>>>,
}

#[derive(Debug)]
struct Talk {
    session: Session,
    authority: String,
}

impl<F: Fn() -> Result<Reach, Wrong>> Server<F> {
    /// A server that nobody has asked yet.
    pub const fn new(reach: F) -> Self {
        Self { reach, talk: RefCell::new(None) }
    }

    fn open(&self) -> Result<Talk, Unanswered> {
        let Reach { to, authority, tls } = (self.reach)().map_err(|wrong| match wrong {
            Wrong::Here(problem) => failed(problem.cause, Some(problem.remedy)),
            Wrong::Elsewhere(error) => split(&error.to_string()),
        })?;
        let tls = tls.as_ref().map(tls::load).transpose().map_err(|error| split(&error.to_string()))?;
        let tls = tls.as_ref().map(tls::for_probe);
        let limits = Limits { timeout: TIMEOUT, body_bytes: BODY_BYTES_MAX };
        let session = Session::open(to, tls.as_ref(), limits).map_err(|error| unanswered(error.into()))?;
        Ok(Talk { session, authority })
    }
}

impl<F: Fn() -> Result<Reach, Wrong>> Ask for Server<F> {
    fn ask(&self, path: &str, metadata: &[(String, String)], message: &[u8]) -> Result<Vec<u8>, Unanswered> {
        let mut talk = self.talk.borrow_mut();
        let Talk { session, authority } = match talk.get_or_insert_with(|| self.open()) {
            Ok(talk) => talk,
            Err(unanswered) => return Err(unanswered.clone()),
        };
        call(session, authority, path, metadata, message).map_err(unanswered)
    }
}

fn unanswered(error: CallError) -> Unanswered {
    match &error {
        CallError::Status { code: Code::UNIMPLEMENTED, .. } => Unanswered::Unimplemented,
        CallError::Exchange(probe::ProbeError::Status(NOT_FOUND)) => Unanswered::Unimplemented,
        _ => failed(error.to_string(), None),
    }
}

fn split(text: &str) -> Unanswered {
    let (cause, remedy) = cause_and_remedy(text);
    failed(cause.to_owned(), remedy.map(str::to_owned))
}

fn failed(cause: String, remedy: Option<String>) -> Unanswered {
    Unanswered::Failed { cause, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::text::Problem;
    use std::cell::Cell;

    #[test]
    fn a_server_that_cannot_be_reached_is_tried_once() {
        let tries = Cell::new(0);
        let server = Server::new(|| {
            tries.set(tries.get() + 1);
            Err(Problem::at("url", "nobody is there", "start it").into())
        });
        for _ in 0..2 {
            let unanswered = server.ask("/p.S/M", &[], &[]).unwrap_err();
            assert_eq!(unanswered, failed("nobody is there".to_owned(), Some("start it".to_owned())));
        }
        assert_eq!(tries.get(), 1);
    }
}
