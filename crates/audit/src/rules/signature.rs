//! Times that name their cause: quota periods, delayed acknowledgements, retransmissions, timeouts. METHOD §9.
//!
//! A quantile names a cause where it stands in the cause's window and far above the quantile before it: the requests in
//! between wait for a timer. Two quantiles in one window are a plateau, which chance seldom makes; one is only noted.
//! A signature is "consistent with", never "because": the remedy is the experiment that decides.

use super::Draft;
use crate::figure::Figure;
use crate::kind::Kind;
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditSeverity};

pub(super) const RULE: &str = "timer-signature";
pub(super) const NEEDS: &str = "two percentiles, or a percentile and max";

/// A jump from one quantile to the next that a smooth law of service seldom makes.
const JUMP: f64 = 3.0;

/// A timer and the window of latencies that it leaves.
struct Timer {
    name: &'static str,
    /// Windows in seconds.
    windows: &'static [(f64, f64)],
    remedy: &'static str,
    /// Whether the max alone is worth a note.
    by_max: bool,
}

const TIMERS: [Timer; 4] = [
    Timer {
        name: "a CPU quota: its processes stop until the next period of 100 ms",
        windows: &[(0.080, 0.105), (0.180, 0.1995), (0.280, 0.305), (0.380, 0.405), (0.480, 0.505)],
        remedy: "compare cells with and without the quota (`limits = { cpus = … }` in an experiment for `prony run`), and read \
                 nr_throttled in cpu.stat; more CPU or fewer threads removes it",
        by_max: false,
    },
    Timer {
        name: "delayed acknowledgements: a small write waits 40 ms for the peer's ACK (Nagle's algorithm)",
        windows: &[(0.0385, 0.045)],
        remedy: "set TCP_NODELAY on both sides or write head and body at once, and re-run with `prony load URL --latency`",
        by_max: false,
    },
    Timer {
        name: "lost packets: the shortest retransmission time-out of Linux is 200 ms, then 400 and 800 ms",
        windows: &[(0.1995, 0.220), (0.400, 0.440), (0.800, 0.860)],
        remedy: "read RetransSegs and TCPTimeouts beside the load, as prony does in every trial (counters of `tcp`), and look for \
                 a full queue",
        by_max: false,
    },
    Timer {
        name: "lost connection attempts: a SYN is sent again after 1 s, 3 s and 7 s",
        windows: &[(0.995, 1.06), (2.995, 3.10), (6.995, 7.15)],
        remedy: "read ListenOverflows and ListenDrops, make the backlog and somaxconn larger, or keep connections alive",
        by_max: true,
    },
];

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for row in &sheet.rows {
        let points: Vec<(Kind, f64, &Figure)> =
            row.quantiles().filter(|(_, share, _)| *share >= 0.5).collect();
        applied |= points.len() >= 2 || (!points.is_empty() && row.get(Kind::Max).is_some());
        for timer in &TIMERS {
            if let Some(found) = plateau(row, &points, timer) {
                findings.push(found);
            }
        }
    }
    applied
}

fn window(timer: &Timer, seconds: f64) -> Option<(f64, f64)> {
    timer.windows.iter().copied().find(|(low, high)| (*low..=*high).contains(&seconds))
}

/// The quantiles of a row in the first window of a timer that lies behind a jump.
fn plateau(row: &Row, points: &[(Kind, f64, &Figure)], timer: &Timer) -> Option<AuditFinding> {
    let found = points.windows(2).find_map(|pair| {
        let (before, here) = (pair[0].2, pair[1].2);
        let window = window(timer, here.value)?;
        (here.value >= JUMP * before.rounded().high.min(before.value * 1.5)).then_some((pair[0], window))
    });
    let Some((before, window)) = found else {
        return if timer.by_max { by_max(row, points, timer) } else { None };
    };
    let inside = |figure: &Figure| (window.0..=window.1).contains(&figure.value);
    let within: Vec<_> =
        points.iter().filter(|(_, share, figure)| *share > before.1 && inside(figure)).collect();
    let first = within.first()?;
    let is_plateau = within.len() >= 2;
    let severity = if is_plateau { AuditSeverity::Suspicious } else { AuditSeverity::Note };
    let names: Vec<String> = within.iter().map(|(kind, ..)| kind.name()).collect();
    let stands = if is_plateau { "stand" } else { "stands" };
    let what =
        format!("{} {stands} at {}, the mark of a timer", names.join(", "), words::seconds(first.2.value));
    let draft = Draft::new(RULE, severity, &[row], what)
        .law(format!("consistent with {} (METHOD §9)", timer.name))
        .number(&before.0.name(), before.0, before.2);
    let draft =
        within.iter().fold(draft, |draft, (kind, _, figure)| draft.number(&kind.name(), *kind, figure));
    Some(
        draft
            .bound(format!(
                "{} is {}, then {} in {} … {}",
                before.0.name(),
                words::seconds(before.2.value),
                words::seconds(first.2.value),
                words::seconds(window.0),
                words::seconds(window.1)
            ))
            .remedy(timer.remedy)
            .0,
    )
}

/// A max in the window of a long timer, far above all percentiles.
fn by_max(row: &Row, points: &[(Kind, f64, &Figure)], timer: &Timer) -> Option<AuditFinding> {
    let max = row.get(Kind::Max)?;
    let top = points.last()?;
    let window = window(timer, max.value)?;
    (max.value >= JUMP * top.2.value).then(|| {
        Draft::new(
            RULE,
            AuditSeverity::Note,
            &[row],
            format!("the max stands at {}, the mark of a timer", words::seconds(max.value)),
        )
        .law(format!("consistent with {} (METHOD §9)", timer.name))
        .number(&top.0.name(), top.0, top.2)
        .number("max", Kind::Max, max)
        .bound(format!("within {} … {}", words::seconds(window.0), words::seconds(window.1)))
        .remedy(timer.remedy)
        .0
    })
}
