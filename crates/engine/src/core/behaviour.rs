//! How long a connection serves.

use crate::failure::Failure;
use schema::load::ErrorClass;
use schema::plan::ConnectionPlan;
use units::Nanos;

/// When a connection has served long enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    /// Requests after which a connection is closed.
    requests_max: u64,
    /// Age at which a free connection is closed.
    pub(super) lifetime: Option<Nanos>,
    /// Whether connections lead through a proxy.
    is_tunneled: bool,
}

impl Behaviour {
    pub(crate) fn new(plan: &ConnectionPlan, is_tunneled: bool) -> Self {
        Self {
            requests_max: if plan.keepalive { plan.requests_max.unwrap_or(u64::MAX) } else { 1 },
            lifetime: plan.lifetime_ns.map(Nanos),
            is_tunneled,
        }
    }

    /// A connection attempt that took too long; `is_greeting` says that only the peer's SETTINGS did not come.
    pub(super) const fn connect_timeout(&self, is_greeting: bool) -> Failure {
        match (is_greeting, self.is_tunneled) {
            (true, _) => Failure::said(
                ErrorClass::ConnectTimeout,
                "no SETTINGS came within the connect time-out; does the server speak HTTP/2 on this port?",
            ),
            (false, false) => Failure::new(ErrorClass::ConnectTimeout),
            (false, true) => Failure::said(
                ErrorClass::ConnectTimeout,
                "the proxy opened no tunnel to the target within the connect time-out",
            ),
        }
    }

    /// Whether a connection with this many answers has served its share.
    #[inline]
    pub(super) fn is_used_up(&self, answers: u64) -> bool {
        answers >= self.requests_max
    }

    /// Whether a connection of this age is to be closed once free.
    #[inline]
    pub(super) fn is_too_old(&self, age: Nanos) -> bool {
        self.lifetime.is_some_and(|lifetime| age >= lifetime)
    }
}
