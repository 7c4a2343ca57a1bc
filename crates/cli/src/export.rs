//! `prony export`: results as other tools write them.
//!
//! Invariants: what a format needs and the source lacks is an error, never made up; rows are passed on one by one, so
//! that a file of any size is exported in the memory of one row.

use crate::args::{ExportArgs, ExportFormat};
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use export::{JTL_HEAD, bencher, github_benchmark, jtl_line, k6_summary};
use record::hgrm::hgrm;
use record::tail::Tail;
use record::{GrowingLog, RunFolder, TrialFolder};
use schema::analysis::AnalysisFile;
use schema::each::{EachHead, EachOutcome, EachPhase, EachRow};
use schema::load::LoadReport;
use schema::trial::{IntervalLine, Phase};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

/// Largest result that is read whole.
const RESULT_BYTES_MAX: u64 = 256 << 20;
/// Longest row.
const ROW_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn export(args: &ExportArgs) -> Result<u8> {
    refuse_idle(args)?;
    if let Some(file) = &args.output {
        output::check(file)?;
    }
    let text = match args.format {
        ExportFormat::Jtl => return rows(args),
        ExportFormat::K6 => schema::json::pretty(&k6_summary(&report(args)?))?,
        ExportFormat::Hgrm => hgrm(&response_times(&trial(args)?)?),
        ExportFormat::Csv => report::series_csv(&intervals(&trial(args)?)?)?,
        ExportFormat::Bencher => schema::json::pretty(&bencher(&whole(args)?, args.target.as_deref()))?,
        ExportFormat::GithubBigger => benchmark(args, true)?,
        ExportFormat::GithubSmaller => benchmark(args, false)?,
    };
    output::write(args.output.as_deref(), &text)?;
    Ok(exit::DONE)
}

/// An option that the format has no use for would be passed over in silence.
fn refuse_idle(args: &ExportArgs) -> Result<()> {
    use ExportFormat::{Bencher, GithubBigger, GithubSmaller, Jtl};
    let is_whole = matches!(args.format, Bencher | GithubBigger | GithubSmaller);
    if args.target.is_some() && !is_whole {
        bail!("--target is for formats of a whole run\n  remedy: remove it; --trial names a trial");
    }
    if args.trial.is_some() && (is_whole || args.format == Jtl) {
        bail!("--trial is for formats of one trial\n  remedy: remove it");
    }
    Ok(())
}

fn benchmark(args: &ExportArgs, bigger: bool) -> Result<String> {
    Ok(schema::json::pretty(&github_benchmark(&whole(args)?, args.target.as_deref(), bigger))?)
}

/// The analysis of a whole run, with its target of that name where one is asked for.
fn whole(args: &ExportArgs) -> Result<AnalysisFile> {
    let (_, analysis) = record::analysed(&run_folder(args)?)?;
    let mut names: Vec<&str> = analysis.cells.iter().map(|cell| cell.target.as_str()).collect();
    names.dedup();
    match args.target.as_deref() {
        Some(wanted) if !names.contains(&wanted) => bail!(
            "{} has no target `{wanted}`\n  remedy: name one of: {}",
            args.from.display(),
            names.join(", ")
        ),
        _ => Ok(analysis),
    }
}

fn run_folder(args: &ExportArgs) -> Result<RunFolder> {
    if !args.from.is_dir() {
        bail!(
            "{} is no run folder, which this format needs\n  remedy: name a folder that prony run or prony soak has made",
            args.from.display()
        );
    }
    Ok(RunFolder::open(&args.from)?)
}

/// The trial that is asked for, or the only one that ended.
fn trial(args: &ExportArgs) -> Result<TrialFolder> {
    let folder = run_folder(args)?;
    let run = folder.read_run()?;
    let ended: Vec<u32> =
        run.plan.order.iter().map(|trial| trial.id).filter(|id| folder.trial(*id).has_ended()).collect();
    match (args.trial, &ended[..]) {
        (Some(wanted), _) if ended.contains(&wanted) => Ok(folder.trial(wanted)),
        (Some(wanted), _) => {
            bail!("trial {wanted} has not ended in {}\n  remedy: {}", args.from.display(), named(&ended))
        }
        (None, [only]) => Ok(folder.trial(*only)),
        (None, _) => bail!(
            "{} has {} trials that ended\n  remedy: {}",
            args.from.display(),
            ended.len(),
            named(&ended)
        ),
    }
}

fn named(ended: &[u32]) -> String {
    match (ended.first(), ended.last()) {
        (Some(first), Some(last)) => format!("name one with --trial, from {first} to {last}"),
        _ => "run it to the end of a trial: prony run --resume".to_owned(),
    }
}

/// The result of a load, or of a trial.
fn report(args: &ExportArgs) -> Result<LoadReport> {
    if args.from.is_dir() {
        let trial = trial(args)?;
        let file = trial.file()?;
        return file.load.with_context(|| {
            format!(
                "{} has no load: its target failed before it\n  remedy: export another trial",
                trial.path.display()
            )
        });
    }
    let shown = args.from.display();
    let file = File::open(&args.from).with_context(|| format!("cannot read {shown}"))?;
    if file.metadata().is_ok_and(|found| found.len() > RESULT_BYTES_MAX) {
        bail!("{shown} is larger than any result of prony load\n  remedy: name the file of -o result.json");
    }
    serde_json::from_reader(BufReader::new(file)).with_context(|| {
        format!("{shown} is no result of a load\n  remedy: make one with `prony load … --format json -o result.json`")
    })
}

/// Response times since the warm-up.
fn response_times(trial: &TrialFolder) -> Result<hdrhistogram::Histogram<u64>> {
    let file = trial.file()?;
    let first = file.phases.iter().find(|span| span.phase == Phase::Sample);
    let Some(from_ns) = first.map(|span| span.start_ns) else {
        bail!("{} has no samples\n  remedy: export another trial", trial.path.display());
    };
    let mut times = record::hlog::new_histogram();
    for row in GrowingLog::new(&trial.path.join(export::LOG)).look(export::TAG).rows {
        if row.start_ns.saturating_add(export::ROUNDING_NS) >= from_ns {
            row.times_ns.iter().for_each(|(time_ns, count)| times.saturating_record_n(*time_ns, *count));
        }
    }
    if times.is_empty() {
        bail!("{} has no right answer\n  remedy: export another trial", trial.path.display());
    }
    Ok(times)
}

fn intervals(trial: &TrialFolder) -> Result<Vec<IntervalLine>> {
    let path = trial.path.join(export::INTERVALS);
    let mut tail = Tail::whole(&path);
    let mut intervals = Vec::new();
    loop {
        let look = tail.look();
        for line in &look.lines {
            let read = serde_json::from_slice(line);
            intervals.push(read.with_context(|| format!("{} is damaged", path.display()))?);
        }
        if !look.more {
            return Ok(intervals);
        }
    }
}

/// Rows of `--each` as lines of JMeter.
fn rows(args: &ExportArgs) -> Result<u8> {
    let shown = args.from.display().to_string();
    let mut from: Box<dyn BufRead> = match args.from.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => {
            Box::new(BufReader::new(File::open(&args.from).with_context(|| format!("cannot read {shown}"))?))
        }
    };
    let head: EachHead = line(&mut *from, 1, &shown)?.with_context(|| format!("{shown} is empty"))?;
    let left_out = match args.output.as_deref() {
        Some(path) => {
            let beside = record::beside(path);
            let file = File::create(&beside).with_context(|| format!("cannot write {}", beside.display()))?;
            let mut to = BufWriter::new(file);
            let written =
                pass(&head, &mut *from, &mut to, &shown).and_then(|count| Ok(to.flush().map(|()| count)?));
            if written.is_err() {
                // Half a file would be taken for a whole one.
                let _ = std::fs::remove_file(&beside);
            }
            let count = written?;
            std::fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))?;
            count
        }
        None => {
            let mut to = BufWriter::new(output::stdout());
            let count = pass(&head, &mut *from, &mut to, &shown)?;
            to.flush()?;
            count
        }
    };
    if left_out.0 > 0 {
        output::say!("note: requests of the warm-up left out: {}", left_out.0);
    }
    if left_out.1 > 0 {
        output::say!("note: requests that never ended left out: {}", left_out.1);
    }
    if head.share < 1.0 {
        output::say!("note: the rows are a share of the requests: {}", head.share);
    }
    Ok(exit::DONE)
}

/// Writes a line for each row; gives how many of the warm-up and how many without an end have none.
fn pass(head: &EachHead, from: &mut dyn BufRead, to: &mut dyn Write, shown: &str) -> Result<(u64, u64)> {
    writeln!(to, "{JTL_HEAD}")?;
    let (mut warmup, mut censored) = (0, 0);
    let mut number = 1;
    loop {
        number += 1;
        let Some(row) = line::<EachRow>(from, number, shown)? else { return Ok((warmup, censored)) };
        match jtl_line(head, &row) {
            Some(text) => writeln!(to, "{text}")?,
            None if row.phase == EachPhase::Warmup => warmup += 1,
            None => {
                debug_assert_eq!(row.outcome, EachOutcome::Censored, "all others have a time");
                censored += 1;
            }
        }
    }
}

/// The next line; `None` at the end.
fn line<T: serde::de::DeserializeOwned>(
    from: &mut dyn BufRead,
    number: u64,
    shown: &str,
) -> Result<Option<T>> {
    let mut text = Vec::new();
    let read = io::Read::take(&mut *from, ROW_BYTES_MAX).read_until(b'\n', &mut text);
    if read.with_context(|| format!("cannot read {shown}"))? == 0 {
        return Ok(None);
    }
    serde_json::from_slice(&text).map(Some).with_context(|| {
        format!(
            "{shown}:{number}: this is no row of prony load --each as JSON lines\n  remedy: write them with --each rows.jsonl; \
             those of a .gz are read by `gzip -dc rows.jsonl.gz | prony export - --format jtl`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_row_has_its_place_and_remedy() {
        let mut text: &[u8] = b"{\"a\":1}\n";
        let error = line::<EachRow>(&mut text, 7, "rows.jsonl").unwrap_err();
        assert!(
            error.to_string().starts_with("rows.jsonl:7: ")
                && error.to_string().contains("--each rows.jsonl")
        );
        assert!(line::<EachRow>(&mut text, 8, "x").unwrap().is_none());
    }
}
