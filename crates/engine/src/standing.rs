//! How the scheduler treats a worker that has times to keep: the standing it asks for, and how long it was put off.
//!
//! A worker that shares its CPU is put off by whole slices of others however short its own work is, and one that spins
//! loses the claim to run at once that a thread which mostly sleeps has. So a worker asks for short slices, which let a
//! waking thread in before the slice of another ends (sched(7), EEVDF since Linux 6.12), and for a higher priority
//! where it may have one; and where it was put off all the same it spins less for a while ([`Sharing`]).
//!
//! Absent on purpose: real-time classes. A worker that spins in one would take the CPU from the target it shares it
//! with, and the system would be asked to guard the user against prony.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use units::Nanos;

/// Asked for: nine parts in ten of a CPU that others want too (kernel: sched_prio_to_weight, 9548 against 1024). Others
/// keep a tenth, whatever the load.
const NICE: i32 = -10;
/// The shortest slice that the kernel gives.
const SLICE_NS: u64 = 100_000;
/// How often a worker looks whether it was put off.
pub(crate) const LOOK: Nanos = Nanos::from_millis(10);
/// Mean wait for a CPU from which on others evidently want it too; an idle CPU gives itself within a few microseconds.
const PUT_OFF: Nanos = Nanos::from_micros(25);
/// Looks that are judged together: a second. Where controller and collector share the CPU, they take about 20 ms of each
/// second, most of it in one burst: much of a few looks, little of a hundred.
const LOOKS: usize = 100;
/// The least share of their time that was waited: a neighbour that computes takes 10 % or more, prony itself up to 3 %.
const PUT_OFF_SHARE: u64 = 20;
/// The latest looks alone, which show a neighbour of the same priority before the second is over.
const LATEST: usize = 10;
/// The least share of these: such a neighbour takes half, prony's own burst a fifth.
const LATEST_SHARE: (u64, u64) = (3, 10);
/// How long a CPU counts as shared after that: doubled each time it turns out so again at once.
const HOLD: (Nanos, Nanos) = (Nanos::SECOND, Nanos::from_secs(16));

/// What a worker got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// From -20, which goes first, to 19.
    pub(crate) nice: i32,
    /// Whether the kernel took the short slice.
    pub(crate) has_short_slice: bool,
}

/// `struct sched_attr` of sched_setattr(2), as of its first version.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Asks for short slices and a higher priority for the calling thread; takes what it may have.
pub(crate) fn raise() -> Standing {
    let now = rustix::process::getpriority_process(None).unwrap_or(0);
    // Somebody who has set another priority has said what they want.
    let wanted = if now == 0 { NICE } else { now };
    let tried = [(wanted, SLICE_NS), (now, SLICE_NS), (wanted, 0)];
    let got = tried.into_iter().find(|(nice, slice_ns)| set(*nice, *slice_ns));
    let (nice, slice_ns) = got.unwrap_or((now, 0));
    Standing { nice, has_short_slice: slice_ns > 0 }
}

fn set(nice: i32, slice_ns: u64) -> bool {
    let size = size_of::<SchedAttr>() as u32;
    // Policy 0 is SCHED_OTHER, the policy that threads have anyway.
    let attr = SchedAttr { size, nice, runtime_ns: slice_ns, ..SchedAttr::default() };
    #[expect(unsafe_code, reason = "no safe wrapper knows this system call")]
    // SAFETY: the kernel reads `size` bytes from `attr`, which lives through the call; it writes nothing but `size`
    // where it wants another one, and fails then. Thread 0 is the calling one.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
    result == 0
}

thread_local! {
    /// Whether workers with times to keep may want the CPU of this thread, which takes what they hand over.
    static WORKERS_FIRST: Cell<bool> = const { Cell::new(false) };
}

/// Says whether [`give_way`] has anybody to give way to on the calling thread.
pub(crate) fn workers_first(are_first: bool) {
    WORKERS_FIRST.set(are_first);
}

/// Gives the CPU to a worker that waits for it; to be called between two steps, of some 50 µs each, of what is done
/// with an interval. Costs a system call of about 0.3 µs, and nothing where no load of this thread has times to keep.
///
/// A worker that shares the CPU loses it to this thread as it hands over, or as an answer comes while it naps, and
/// would not get it back before all is done: the scheduler looks again when a thread wakes, not while one waits.
pub fn give_way() {
    if WORKERS_FIRST.get() {
        std::thread::yield_now();
    }
}

/// How long the calling thread has waited for a CPU while it could have run, from the kernel's own account.
pub(crate) struct Waited {
    /// `schedstat` of the thread that opened it; absent where the kernel keeps none.
    account: Option<File>,
    seen: Account,
}

/// Fields of `/proc/thread-self/schedstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Account {
    waited_ns: u64,
    slices: u64,
}

/// What a look at the account found since the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PutOff {
    pub(crate) waited: Nanos,
    slices: u64,
}

impl Waited {
    /// From here on, for the calling thread.
    pub(crate) fn begin() -> Self {
        let mut waited =
            Self { account: File::open("/proc/thread-self/schedstat").ok(), seen: Account::default() };
        waited.look();
        waited
    }

    /// Since the last look. Nothing where the kernel does not tell.
    pub(crate) fn look(&mut self) -> PutOff {
        let mut text = [0; 80];
        let read = self.account.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let Some(now) = read.and_then(|length| parse(&text[..length])) else { return PutOff::default() };
        let before = std::mem::replace(&mut self.seen, now);
        PutOff {
            waited: Nanos(now.waited_ns.saturating_sub(before.waited_ns)),
            slices: now.slices.saturating_sub(before.slices),
        }
    }
}

/// `ran waited slices`, in nanoseconds and a count (kernel: Documentation/scheduler/sched-stats.rst).
fn parse(text: &[u8]) -> Option<Account> {
    let mut fields = std::str::from_utf8(text).ok()?.split_ascii_whitespace().skip(1).map(str::parse);
    Some(Account { waited_ns: fields.next()?.ok()?, slices: fields.next()?.ok()? })
}

/// Whether others want the worker's CPU, learned from how long it waited for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    until: Nanos,
    hold: Nanos,
    /// The latest looks, as a ring.
    looks: [PutOff; LOOKS],
    next: usize,
}

impl Sharing {
    pub(crate) fn new() -> Self {
        Self { until: Nanos::ZERO, hold: HOLD.0, looks: [PutOff::default(); LOOKS], next: 0 }
    }

    /// Learns from a look at `now`; returns whether the CPU counts as shared.
    pub(crate) fn learn(&mut self, found: PutOff, now: Nanos) -> bool {
        let was_shared = now < self.until;
        self.looks[self.next] = found;
        self.next = (self.next + 1) % LOOKS;
        let is_put_off = self.waited(LOOKS, LOOK.0 * LOOKS as u64 / PUT_OFF_SHARE)
            || self.waited(LATEST, LOOK.0 * LATEST as u64 * LATEST_SHARE.0 / LATEST_SHARE.1);
        if is_put_off && !was_shared {
            // Put off again as soon as it spun: the next try comes later.
            let is_again = now.since(self.until) < HOLD.0 && self.until > Nanos::ZERO;
            self.hold = if is_again { Nanos((self.hold.0 * 2).min(HOLD.1.0)) } else { HOLD.0 };
            self.until = now + self.hold;
        }
        now < self.until
    }

    /// Whether the latest looks have waited at least so long together, and long enough each time.
    fn waited(&self, looks: usize, at_least_ns: u64) -> bool {
        let latest = (1..=looks).map(|back| self.looks[(self.next + LOOKS - back) % LOOKS]);
        let (waited, slices) =
            latest.fold((0, 0), |(waited, slices), look| (waited + look.waited.0, slices + look.slices));
        waited >= at_least_ns && waited >= PUT_OFF.0 * slices.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_no_worse_standing_and_others_keep_theirs() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let standing = std::thread::spawn(move || {
            let standing = raise();
            assert_eq!(nice(), standing.nice, "what is reported is what the kernel has");
            standing
        });
        let standing = standing.join().unwrap();
        assert!(standing.nice <= before);
        assert_eq!(nice(), before, "the thread that started it stays as it was");
        if rustix::process::geteuid().is_root() && before == 0 {
            println!("as root: {standing:?}");
        }
    }

    #[test]
    fn the_account_of_waiting_is_read_as_the_kernel_writes_it() {
        assert_eq!(parse(b"12345 678 9\n"), Some(Account { waited_ns: 678, slices: 9 }));
        for damaged in [&b""[..], b"1 2", b"1 x 3", b"\xff"] {
            assert_eq!(parse(damaged), None, "{damaged:?}");
        }
        let mut waited = Waited::begin();
        assert!(waited.account.is_none() || waited.seen.slices > 0 || waited.look() == PutOff::default());
    }

    const QUIET: PutOff = PutOff { waited: Nanos::from_micros(30), slices: 20 };
    /// A neighbour that computes beside a worker that goes first: a tenth of the time.
    const NEIGHBOUR: PutOff = PutOff { waited: Nanos::from_millis(1), slices: 1 };

    #[test]
    fn pronys_own_burst_in_each_second_is_not_a_neighbour() {
        let mut sharing = Sharing::new();
        let own = PutOff { waited: Nanos::from_millis(5), slices: 2 };
        for _ in 0..20 {
            assert!((0..4).all(|_| !sharing.learn(own, Nanos::from_secs(5))), "20 ms of the controller's");
            assert!((4..100).all(|_| !sharing.learn(QUIET, Nanos::from_secs(5))));
        }
    }

    #[test]
    fn a_neighbour_of_the_same_priority_is_seen_at_once() {
        let mut sharing = Sharing::new();
        let half = PutOff { waited: Nanos::from_millis(5), slices: 2 };
        let looks = (1..=LATEST).find(|_| sharing.learn(half, Nanos::from_secs(5)));
        assert_eq!(looks, Some(6), "30 ms of 100");
    }

    #[test]
    fn a_shared_cpu_is_tried_again_ever_less_often() {
        let mut sharing = Sharing::new();
        let mut now = Nanos::from_secs(5);
        let mut holds = Vec::new();
        for _ in 0..6 {
            while !sharing.learn(NEIGHBOUR, now) {
                now += LOOK;
            }
            let began = now;
            while sharing.learn(QUIET, now) {
                now += LOOK;
            }
            holds.push(now.since(began).0 / 1_000_000_000);
            // It spins once more, and is put off once more.
        }
        assert_eq!(holds, [1, 2, 4, 8, 16, 16]);
        now += Nanos::from_secs(60);
        while !sharing.learn(NEIGHBOUR, now) {
            now += LOOK;
        }
        assert!((0..LOOKS).all(|_| sharing.learn(QUIET, now)), "what was waited is past");
        assert!(!sharing.learn(QUIET, now + HOLD.0), "after a quiet time it begins with the shortest again");
    }
}
