//! `prony report`, and the last step of `prony run`: from a run folder to its analysis and report files.

use crate::args::{PageLang, ReportArgs, ReportFormat};
use crate::{chart, exit, output};
use anyhow::Result;
use record::RunFolder;
use record::page::PageWishes;
use schema::analysis::{AnalysisFile, BeliefLevel, ClaimVerdict};
use schema::page::{PageFile, PageLanguage};
use schema::run::RunFile;
use schema::soak::SoakClass;
use schema::threshold::ThresholdVerdict;
use std::path::Path;

pub(crate) fn report(args: &ReportArgs) -> Result<u8> {
    let folder = RunFolder::open(&args.run)?;
    if args.chart.chart.is_some() {
        chart::chart(&args.chart, &record::analysed(&folder)?.1)?;
        return Ok(exit::DONE);
    }
    let wishes = wishes(args)?;
    let (run, analysis) = match args.format {
        None => write_with(&folder, &wishes)?,
        Some(_) => record::analysed(&folder)?,
    };
    let file = args.output.as_deref();
    let page = || page(&folder, &run, &analysis, &wishes);
    let text = match args.format {
        None | Some(ReportFormat::Text) if args.explain => {
            report::explained(&run, &analysis, output::style(file))
        }
        None | Some(ReportFormat::Text) => report::terminal(&run, &analysis, output::style(file)),
        Some(ReportFormat::Json) => schema::json::pretty(&analysis)?,
        Some(ReportFormat::Csv) => report::csv(&run, &analysis)?,
        Some(ReportFormat::Markdown) => report::markdown(&run, &analysis),
        Some(ReportFormat::Html) => html(&folder, &run, &analysis, &wishes)?,
        Some(ReportFormat::HtmlPlain) => report::html(&run, &analysis)?,
        Some(ReportFormat::Page) => report::page_json(&page())? + "\n",
    };
    output::write(file, &text)?;
    write_junit(args.junit.as_deref(), &run, &analysis)?;
    Ok(claims_code(&analysis))
}

fn wishes(args: &ReportArgs) -> Result<PageWishes> {
    let lang = match args.lang {
        PageLang::En => PageLanguage::En,
        PageLang::Zh => PageLanguage::Zh,
    };
    let read = |path: &Path| RunFolder::open(path)?.read_run();
    Ok(PageWishes { lang, against: args.against.as_deref().map(read).transpose()? })
}

/// Analyses a run folder and writes its report files.
pub(crate) fn write_all(folder: &RunFolder) -> Result<(RunFile, AnalysisFile)> {
    write_with(folder, &PageWishes::default())
}

fn write_with(folder: &RunFolder, wishes: &PageWishes) -> Result<(RunFile, AnalysisFile)> {
    let (run, analysis) = record::analysed(folder)?;
    write_wished(folder, (&run, &analysis), wishes)?;
    Ok((run, analysis))
}

/// Writes the report files of an analysis that was made before.
pub(crate) fn write_files(folder: &RunFolder, run: &RunFile, analysis: &AnalysisFile) -> Result<()> {
    write_wished(folder, (run, analysis), &PageWishes::default())
}

fn write_wished(
    folder: &RunFolder,
    (run, analysis): (&RunFile, &AnalysisFile),
    wishes: &PageWishes,
) -> Result<()> {
    folder.write_json("analysis.json", analysis)?;
    folder.write("report.md", report::markdown(run, analysis).as_bytes())?;
    folder.write("results.csv", report::csv(run, analysis)?.as_bytes())?;
    Ok(folder.write("report.html", html(folder, run, analysis, wishes)?.as_bytes())?)
}

/// The page of the front end, or the plain one where prony was built without it.
fn html(folder: &RunFolder, run: &RunFile, analysis: &AnalysisFile, wishes: &PageWishes) -> Result<String> {
    match assets::report() {
        Some(template) => Ok(report::page_html(&page(folder, run, analysis, wishes), template)?),
        None => Ok(report::html(run, analysis)?),
    }
}

fn page(folder: &RunFolder, run: &RunFile, analysis: &AnalysisFile, wishes: &PageWishes) -> PageFile {
    record::page::page(folder, run.clone(), analysis.clone(), wishes)
}

/// The claims and thresholds for a CI system, where a file for them is named.
pub(crate) fn write_junit(file: Option<&Path>, run: &RunFile, analysis: &AnalysisFile) -> Result<()> {
    match file {
        Some(_) => output::write(file, &report::junit(run, analysis)?),
        None => Ok(()),
    }
}

/// The exit code of a run: 3 where a soak found a leak, 2 where the numbers must not be used, else as [`claims_code`]. A
/// leak comes first: it was read from the target itself, whatever the load was like.
pub(crate) fn run_code(analysis: &AnalysisFile) -> u8 {
    match (leaks(analysis), analysis.belief.level) {
        (false, BeliefLevel::No) => exit::FAILED,
        _ => claims_code(analysis),
    }
}

/// 3 where a claim does not hold, a threshold was not kept, a search verified nothing, or a soak found a leak. A report
/// that was made again has done its work, whatever its numbers are worth.
fn claims_code(analysis: &AnalysisFile) -> u8 {
    let fails = analysis.claims.iter().any(|claim| claim.verdict == ClaimVerdict::DoesNotHold);
    let mut searches = analysis.capacity.iter().filter_map(|capacity| capacity.search.as_ref());
    let unmet = searches.any(|search| search.verified_per_s.is_none());
    if fails || unmet || is_unhealthy(analysis) || leaks(analysis) { exit::CLAIM } else { exit::DONE }
}

/// Whether a threshold was crossed, or never read.
pub(crate) fn is_unhealthy(analysis: &AnalysisFile) -> bool {
    analysis.thresholds.iter().any(|threshold| threshold.verdict != ThresholdVerdict::Kept)
}

/// Whether a soak found a leak.
pub(crate) fn leaks(analysis: &AnalysisFile) -> bool {
    analysis.soak.as_ref().is_some_and(|soak| soak.verdict == SoakClass::Leak)
}
