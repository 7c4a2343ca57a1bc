//! How often `prony ci` is right: runs it again and again on a service that is known to be equal or 10 % slower.
//!
//! `ci-figures --runs N --out DIR` makes N runs of each kind in an order drawn from the seed, while a process of its own
//! takes CPU time in bursts, and adds a line to `DIR/runs.csv` as each ends. Started again it goes on where the file ends.
//! `--summary` prints what the file says and runs nothing. benches/README.md says what the figures mean.
//! Invariants: a run that was interrupted leaves no line and is made again; a run without a verdict found nothing; all
//! processes and folders that were made end with this one.
//! Exit codes: 0 done, 1 the arguments are wrong, 2 the runs could not be made, 130 interrupted.

mod args;
mod binomial;
mod record;
mod row;
mod run;
mod shop;
mod steal;
mod summary;

use args::Args;
use clap::Parser as _;
use record::Record;
use row::{Kind, Row};
use run::Bench;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use units::Seed;

/// Between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    if let Some(code) = steal::dispatch(std::env::args()) {
        return code;
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match figures(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(130),
        Err(error) => {
            eprintln!("ci-figures: {error}");
            ExitCode::from(2)
        }
    }
}

/// Makes the runs that are missing and prints the summary. Returns whether it came to its end.
fn figures(args: &Args) -> Result<bool, Box<dyn Error>> {
    if args.summary {
        print!("{}", summary::text(&record::rows(&args.out)?));
        return Ok(true);
    }
    let stop = Arc::new(AtomicBool::new(false));
    // Not SIGHUP: it stays ignored under nohup.
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, stop.clone())?;
    }
    let settings = args.settings()?;
    let mut record = Record::open(&args.out, &settings)?;
    let bench = Bench::new(&settings, &args.out)?;
    let is_quiet_asked = || args.pause_while.as_deref().is_some_and(Path::exists);
    while !is_complete(record.rows(), args) && !stop.load(Ordering::Relaxed) {
        if is_quiet_asked() {
            sleep(LOOK);
            continue;
        }
        let number = record.next();
        let kind = kind_of(settings.seed, number);
        let wants_end = || stop.load(Ordering::Relaxed) || is_quiet_asked();
        if let Some(row) = bench.run(number, kind, wants_end)? {
            eprintln!("{}: {}", number + 1, summary::line(&row));
            record.add(row)?;
        }
    }
    print!("{}", summary::text(record.rows()));
    Ok(is_complete(record.rows(), args))
}

/// Whether there are as many runs of each kind as were asked for.
fn is_complete(rows: &[Row], args: &Args) -> bool {
    let counted = |kind: Kind| {
        rows.iter().filter(|row| row.kind == kind && (row.is_answered() || !args.answered)).count()
    };
    [Kind::Equal, Kind::Planted].into_iter().all(|kind| counted(kind) >= args.runs as usize)
}

/// Each pair of runs has one of each kind, in an order of its own: so whatever changes on the host meets both alike, and
/// more runs can be asked for later.
fn kind_of(seed: u64, number: u32) -> Kind {
    let mut kinds = [Kind::Equal, Kind::Planted];
    Seed(seed).derive("ci-figures.order", u64::from(number / 2)).rng().shuffle(&mut kinds);
    kinds[number as usize % 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;
    use schema::ci::CiVerdict;

    #[test]
    fn void_runs_count_unless_answers_are_asked_for() {
        let of = |words: &[&str], verdicts: &[Option<CiVerdict>]| {
            let args = Args::parse_from([&["ci-figures", "--out", "x", "--runs", "1"], words].concat());
            let kinds = [Kind::Equal, Kind::Planted].into_iter().cycle();
            let rows: Vec<Row> = (0..)
                .zip(kinds)
                .zip(verdicts)
                .map(|((number, kind), verdict)| row(number, kind, *verdict))
                .collect();
            is_complete(&rows, &args)
        };
        let (answer, void) = (Some(CiVerdict::Inconclusive), Some(CiVerdict::Void));
        assert!(of(&[], &[answer, void]) && !of(&[], &[answer]));
        assert!(!of(&["--answered"], &[answer, void]) && !of(&["--answered"], &[answer, None]));
        assert!(of(&["--answered"], &[answer, void, void, answer]));
    }

    #[test]
    fn kinds_come_in_pairs_in_a_drawn_order() {
        let kinds: Vec<Kind> = (0..200).map(|number| kind_of(1, number)).collect();
        assert!(kinds.chunks(2).all(|pair| pair[0] != pair[1]));
        let first = kinds.chunks(2).filter(|pair| pair[0] == Kind::Equal).count();
        assert!((30..=70).contains(&first), "{first}");
        assert_ne!(kinds, (0..200).map(|number| kind_of(2, number)).collect::<Vec<_>>());
    }
}
