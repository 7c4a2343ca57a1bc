//! `prony report RUN --chart`: one chart of a run as a file, or the names of those that it has.

use crate::args::ChartArgs;
use crate::output;
use anyhow::{Result, bail};
use report::NamedChart;
use schema::analysis::AnalysisFile;

pub(crate) fn chart(args: &ChartArgs, analysis: &AnalysisFile) -> Result<()> {
    let charts = report::charts(analysis)?;
    let name = args.chart.as_deref().unwrap_or_default();
    if name.is_empty() {
        return output::write(None, &listed(&charts, ""));
    }
    let chart = find(&charts, name)?;
    let (svg, png) = (args.svg.as_deref(), args.png.as_deref());
    if svg.is_none() && png.is_none() {
        bail!("--chart {name} has no file to go to\n  remedy: give --svg FILE or --png FILE");
    }
    if let Some(file) = svg {
        output::write(Some(file), &chart.svg)?;
    }
    if let Some(file) = png {
        record::write_whole(file, &picture::png(&chart.svg, args.width)?)?;
    }
    Ok(())
}

/// By its name, or the first of its kind.
fn find<'a>(charts: &'a [NamedChart], name: &str) -> Result<&'a NamedChart> {
    let exact = charts.iter().find(|chart| chart.name == name);
    let first = format!("{name}-1");
    match exact.or_else(|| charts.iter().find(|chart| chart.name == first)) {
        Some(chart) => Ok(chart),
        None if charts.is_empty() => bail!("this run has no chart: no trial has numbers"),
        None => bail!("this run has no chart `{name}`\n  remedy: take one of\n{}", listed(charts, "    ")),
    }
}

fn listed(charts: &[NamedChart], indent: &str) -> String {
    let longest = charts.iter().map(|chart| chart.name.len()).max().unwrap_or(0);
    charts.iter().map(|chart| format!("{indent}{:<longest$}  {}\n", chart.name, chart.title)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_its_first_chart_and_what_is_not_there_is_answered_with_what_is() {
        let chart = |name: &str| NamedChart { name: name.into(), title: "T".into(), svg: String::new() };
        let charts = [chart("knee-1"), chart("knee-2"), chart("strips")];
        assert_eq!(find(&charts, "knee").unwrap().name, "knee-1");
        assert_eq!(find(&charts, "knee-2").unwrap().name, "knee-2");
        let error = find(&charts, "pie").unwrap_err().to_string();
        assert!(error.contains("    strips  T") && error.contains("    knee-1  T"), "{error}");
        assert!(find(&[], "knee").unwrap_err().to_string().contains("no trial has numbers"));
    }
}
