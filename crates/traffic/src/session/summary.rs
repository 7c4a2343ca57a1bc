//! Sessions as text for a terminal. No arithmetic beyond shares and units; every number is that of [`Sessions`].
//!
//! Invariant: what comes from a log is cleaned before it is shown.

use super::{Sessions, laws};
use crate::error::cleaned;
use crate::model::{FamilyFit, GapData};
use crate::summary::{files, fit_text, mix};
use crate::verdict::Verdict;
use std::fmt::Write as _;
use units::Nanos;
use units::format::sentence::long;

/// The summary; `verdict` is on the begins of sessions.
#[must_use]
pub fn text(sessions: &Sessions, verdict: &Verdict) -> String {
    let mut text = String::new();
    files(&mut text, &sessions.whole);
    let _ = writeln!(
        text,
        "\nsessions by {}, ended by a pause of more than {}\n  {} sessions of {} keys, {} requests",
        cleaned(sessions.key.as_bytes()),
        long(sessions.timeout_ns / 1_000_000_000),
        sessions.sessions,
        sessions.keys,
        sessions.requests
    );
    mix(&mut text, &sessions.whole);
    let length = &sessions.length;
    let _ = writeln!(
        text,
        "\nrequests of a session (mean {:.3}, longest {}; laws of values that are rounded up)\n  \
         law          parameters                   AIC        distance  p",
        length.mean, length.max
    );
    families(&mut text, &length.families);
    let pause = &sessions.pause;
    let data = match pause.data {
        GapData::Exact => "pauses as logged",
        _ => "pauses known to whole ticks, likelihood of intervals",
    };
    let _ = writeln!(
        text,
        "\npauses within sessions, in seconds (mean {:.6} of {}; {data}, clock {})\n  \
         law          parameters                   AIC        distance  p",
        pause.mean_s,
        pause.n,
        Nanos(sessions.whole.resolution_ns)
    );
    families(&mut text, &pause.families);
    if pause.none_share > 0.0 {
        let _ =
            writeln!(text, "  {:.1} % of them are shorter than the clock can show", pause.none_share * 100.0);
    }
    if let Some(beyond) = pause.beyond_timeout.filter(|share| *share > 0.01) {
        let _ = writeln!(
            text,
            "  {:.1} % of the best law lie beyond the time-out, where a pause would be the end of a session",
            beyond * 100.0
        );
    }
    let _ = writeln!(text, "\nbegins of sessions\n  {verdict}");
    let notes: Vec<&String> = sessions.notes.iter().chain(&sessions.starts.notes).collect();
    if !notes.is_empty() {
        let _ = writeln!(text, "\nnotes");
    }
    for note in notes {
        let _ = writeln!(text, "  - {note}");
    }
    text
}

fn families(text: &mut String, families: &[FamilyFit]) {
    for family in families {
        let _ = writeln!(text, "  {:<11}  {}", family.family.name(), fit_text(family));
    }
    let best = families.first().and_then(|family| family.goodness);
    if let Some(goodness) = best.filter(|goodness| goodness.p < laws::P_LEAST) {
        let _ = writeln!(
            text,
            "  none of them made the log: the best has p {:.3}, below {}",
            goodness.p,
            laws::P_LEAST
        );
    }
}
