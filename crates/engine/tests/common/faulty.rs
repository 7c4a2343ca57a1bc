//! Loads against the fault server: what each comes to, and what it must come to.
//!
//! Time-outs are short only where the fault is one of time; everywhere else they are far away, so a slow machine
//! changes no count.

use super::{MS, prepared, run, short_load};
use End::{Bad, Good, Status};
use engine::{IntervalData, Job};
use request::Traffic;
use schema::load::ErrorClass::{self, Malformed, UnexpectedStatus, WrongBody};
use schema::plan::DriverChoice;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::fault::After::{self, Kept, NextFails, Replaced};
use testkit::fault::{Ask, Counts, Fault, FaultServer, Pattern, RIGHT_BODY, Spec};

/// Every way of driving sockets that the engine has.
pub(crate) const DRIVERS: &[DriverChoice] = &[DriverChoice::Epoll, DriverChoice::IoUring];

/// How long a request may take where the fault is that it takes too long.
pub(crate) const SHORT: u64 = 300 * MS;
/// A body that fits into no buffer of a socket.
const LARGE_BODY_BYTES: usize = 8 << 20;
/// Loads under way at the same time.
const AT_ONCE: usize = 8;

/// What a faulty request must end as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Right.
    Good,
    /// This class, with an example that has this text.
    Bad(ErrorClass, &'static str),
    /// A complete answer with this status, which is not expected.
    Status(u16),
}

/// What a load came to; all of it is the same in every run, whatever the timing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) failed: BTreeMap<ErrorClass, u64>,
    pub(crate) completed: u64,
    pub(crate) censored: u64,
    pub(crate) status: BTreeMap<u16, u64>,
    pub(crate) connects: u64,
    /// Full and resumed ones.
    pub(crate) handshakes: u64,
    pub(crate) seen: Counts,
    /// Where the server's answers end by themselves.
    pub(crate) bytes_read: Option<u64>,
}

impl Outcome {
    pub(crate) fn of(fault: Fault, sum: &IntervalData, seen: Counts) -> Self {
        let account = sum.counts.measured;
        check_examples(fault, sum);
        let is_endless = matches!(
            fault,
            Fault::HeaderBomb
                | Fault::HeaderOneLong
                | Fault::LengthHuge
                | Fault::ChunkExtensionBomb
                | Fault::ChunkBomb
                | Fault::TrailerBomb
                | Fault::InterimStorm
                | Fault::DripForever
        );
        // How much of a bad answer is read before it is known to be bad depends on the pieces in which it comes.
        let is_cut = account.failed_by_class().contains_key(&Malformed);
        Self {
            failed: account.failed_by_class(),
            completed: account.completed,
            censored: account.censored,
            status: sum.status_counts(),
            connects: sum.counts.connects,
            handshakes: sum.counts.tls_full + sum.counts.tls_resumed,
            // How many connections have ended when the load has is a matter of time.
            seen: Counts { ended: 0, ..seen },
            bytes_read: (!is_endless && !is_cut).then_some(sum.counts.read_bytes),
        }
    }

    /// What ten requests on one connection of plain text must come to.
    pub(crate) fn expected(end: End, after: After, bytes_read: Option<u64>) -> Self {
        let bad = |class: ErrorClass| (BTreeMap::from([(class, 3)]), 7);
        let (failed, completed) = match (end, after) {
            (Good, NextFails(key)) => (BTreeMap::from([(class_of(key), 2)]), 8),
            (Good, _) => (BTreeMap::new(), 10),
            (Bad(class, _), _) => bad(class),
            (Status(_), _) => bad(UnexpectedStatus),
        };
        let status = match end {
            Status(status) => BTreeMap::from([(200, 7), (status, 3)]),
            Bad(WrongBody, _) => BTreeMap::from([(200, 10)]),
            _ => BTreeMap::from([(200, completed)]),
        };
        // Of the ten, those that came upon a dead connection never reach the server: it sees 1, 2, 3, then 4, 5, 6.
        let (requests, faults, connects) = match after {
            Kept => (10, 3, 1),
            Replaced => (10, 3, 4),
            NextFails(_) => (8, 2, 3),
        };
        let seen = Counts { connections: connects, ended: 0, requests, faults };
        Self { failed, completed, censored: 0, status, connects, handshakes: 0, seen, bytes_read }
    }
}

fn check_examples(fault: Fault, sum: &IntervalData) {
    for class in sum.counts.measured.failed_by_class().keys() {
        let texts = &sum.examples[class];
        assert!(!texts.is_empty() && texts.iter().all(|text| !text.is_empty()), "{fault}: {class:?}");
    }
}

/// The request that brings a fault out.
pub(crate) fn request_for(fault: Fault) -> Traffic {
    match fault.entry().ask {
        Ask::Any => prepared("GET", vec![], Some(RIGHT_BODY)),
        Ask::Head => prepared("HEAD", vec![], None),
        Ask::Call => panic!("{fault}: calls are made where HTTP/2 is spoken"),
        Ask::LargeBody => prepared("POST", vec![b'x'; LARGE_BODY_BYTES], Some(RIGHT_BODY)),
    }
}

/// A load on a fault server of which every third request or connection is faulty; `set` may change the job.
pub(crate) fn load(
    fault: Fault,
    driver: DriverChoice,
    connections: u32,
    requests: u64,
    set: impl FnOnce(&mut Job, &FaultServer),
) -> (IntervalData, Counts) {
    let server = FaultServer::start(Spec::new(fault, Pattern::Every(3)).unwrap()).unwrap();
    let mut job = short_load(server.addr(), driver, connections, requests, request_for(fault));
    if fault.entry().class == Some("timeout") {
        job.load.timeout_ns = SHORT;
    }
    set(&mut job, &server);
    let sum = run(&job).unwrap_or_else(|error| panic!("{fault}: {error}"));
    (sum, server.counts())
}

/// The class with this key.
pub(crate) fn class_of(key: &str) -> ErrorClass {
    ErrorClass::ALL.into_iter().find(|class| class.key() == key).expect("a class")
}

/// Calls `check` with every item, several at once; every failure is reported, not only the first.
pub(crate) fn each<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let one_by_one = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst)) {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(item)));
            if let Err(panic) = result {
                let text = panic.downcast_ref::<String>().cloned();
                failures.lock().unwrap().push(text.unwrap_or_else(|| "a panic without a text".into()));
            }
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(one_by_one))));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
