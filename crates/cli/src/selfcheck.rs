//! `prony selfcheck`: how often the statistics are right on made-up runs whose truth is known, on this host.
//!
//! Progress goes to standard error, the table to standard output. A row that does not pass fails the command.

use crate::args::{SelfcheckArgs, TextOrJson};
use crate::{exit, output};
use anyhow::Result;
use schema::selfcheck::SelfcheckFile;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use units::Seed;

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

pub(crate) fn selfcheck(args: &SelfcheckArgs) -> Result<u8> {
    let begun = Instant::now();
    let end = Duration::from_nanos(args.duration.0);
    let mut last = begun;
    let every = if std::io::stderr().is_terminal() { PROGRESS_EVERY / 10 } else { PROGRESS_EVERY };
    let goes_on = |round: u64| {
        if last.elapsed() >= every {
            last = Instant::now();
            let left = end.saturating_sub(begun.elapsed()).as_secs();
            output::say!("selfcheck: {round} of {} runs of each kind, {left} s left at most", args.runs);
        }
        round < args.runs && (round == 0 || begun.elapsed() < end)
    };
    let rows = analyze::selfcheck(Seed(args.seed), goes_on);
    let file = SelfcheckFile {
        schema: Default::default(),
        prony: env!("CARGO_PKG_VERSION").to_owned(),
        seed: args.seed,
        took_s: begun.elapsed().as_secs_f64(),
        passes: rows.iter().all(|row| row.passes),
        rows,
    };
    let shown = match args.format {
        TextOrJson::Json => schema::json::pretty(&file)?,
        TextOrJson::Text => text(&file),
    };
    output::write(None, &shown)?;
    Ok(if file.passes { exit::DONE } else { exit::FAILED })
}

fn text(file: &SelfcheckFile) -> String {
    let mut text = format!("{:<48} {:>6} {:>6} {:>8}  right\n", "", "size", "runs", "share");
    for row in &file.rows {
        let share = |value: f64| format!("{:.1}", 100.0 * value);
        let right = match (row.least, row.most) {
            (0.0, most) => format!("at most {} %", share(most)),
            (least, 1.0) => format!("at least {} %", share(least)),
            (least, most) => format!("{} to {} %", share(least), share(most)),
        };
        let verdict = if row.passes { "" } else { "  NOT RIGHT" };
        let _ = writeln!(
            text,
            "{:<48} {:>6} {:>6} {:>6} %  {right}{verdict}",
            row.proof.words(),
            row.size,
            row.runs,
            share(row.share),
        );
    }
    let failed = file.rows.iter().filter(|row| !row.passes).count();
    let answer = match failed {
        0 => "Every share is right, as far as so many runs can tell (three standard errors).".to_owned(),
        failed => format!("{failed} of {} shares are not right: please report this table.", file.rows.len()),
    };
    let _ = writeln!(
        text,
        "\nsize: blocks of a run; seconds of a window\n{answer}\nprony {}, seed {}, {:.0} s",
        file.prony, file.seed, file.took_s
    );
    text
}
