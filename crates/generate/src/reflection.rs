//! A server that is asked, before the load, what its calls take.
//!
//! Invariants: nothing is connected before the first question; one connection and one deadline for all questions; one refusal
//! is the answer to all questions after it.

use crate::tls;
use plan::{Ask, PlanError, Reach, Unanswered, Wrong};
use probe::grpc::{CallError, call};
use probe::{Limits, Session};
use std::cell::RefCell;
use std::time::Duration;
use wire::grpc::Code;

/// For all questions: files may need as many round trips as there are imports.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer: a message of gRPC is at most 4 MiB.
const BODY_BYTES_MAX: usize = (4 << 20) + wire::grpc::PREFIX_BYTES;
/// A status of HTTP that says that there is nothing of that name.
const NOT_FOUND: u16 = 404;

/// A server that is asked; `reach` says where it is.
#[derive(Debug)]
pub struct Server<F> {
    reach: F,
    talk: RefCell<Option<Talk>>,
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
            Wrong::Elsewhere(error) => refused(&error),
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
        let Talk { session, authority } = match &mut *talk {
            Some(talk) => talk,
            none => none.insert(self.open()?),
        };
        call(session, authority, path, metadata, message).map_err(unanswered)
    }
}

fn unanswered(error: CallError) -> Unanswered {
    match &error {
        CallError::Status { code, .. } if Some(*code) == Code::of_name("UNIMPLEMENTED") => {
            Unanswered::Unimplemented
        }
        CallError::Exchange(probe::ProbeError::Status(NOT_FOUND)) => Unanswered::Unimplemented,
        _ => failed(error.to_string(), None),
    }
}

fn refused(error: &PlanError) -> Unanswered {
    split(&error.to_string())
}

/// Texts of errors are cause and remedy in one.
fn split(text: &str) -> Unanswered {
    match text.split_once("\n  remedy: ") {
        Some((cause, remedy)) => failed(cause.to_owned(), Some(remedy.to_owned())),
        None => failed(text.to_owned(), None),
    }
}

fn failed(cause: String, remedy: Option<String>) -> Unanswered {
    Unanswered::Failed { cause, remedy }
}
