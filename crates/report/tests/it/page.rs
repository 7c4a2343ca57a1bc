//! The HTML page of the sample run: self-contained, well-formed, complete.

use quick_xml::Reader;
use quick_xml::events::Event;
use schema::analysis::{AnalysisFile, CellMessages};

fn page() -> String {
    report::html(&crate::sample::plan::run_file(), &crate::sample::analysis()).unwrap()
}

/// All `<svg>` elements, whole.
fn svgs(page: &str) -> Vec<&str> {
    page.match_indices("<svg")
        .map(|(begin, _)| {
            let end = begin + page[begin..].find("</svg>").expect("an svg element ends");
            &page[begin..end + "</svg>".len()]
        })
        .collect()
}

/// Reads an element to its end, or says why it is not well-formed; returns the number of elements.
fn well_formed(xml: &str) -> usize {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut elements = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} in {xml}")) {
            Event::Eof => return elements,
            Event::Start(_) | Event::Empty(_) => elements += 1,
            _ => {}
        }
    }
}

/// Kept where a developer can open it: `target/tmp/report.html`.
#[test]
fn the_page_is_written_for_looking_at() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    std::fs::write(&file, page()).unwrap();
    assert!(std::fs::metadata(&file).unwrap().len() < 500_000, "one file that mails and opens quickly");
}

#[test]
fn it_is_one_file_without_scripts_that_loads_nothing() {
    let page = page();
    for part in ["<script", "javascript:", "src=", "@import", "url(", "<link", "<iframe", "onload", "onclick"]
    {
        assert!(!page.contains(part), "the page contains {part}");
    }
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_chart_is_there_and_well_formed() {
    let page = page();
    let svgs = svgs(&page);
    // Two forests, the strips, a percentile chart for each load, a timeline for each cell.
    assert_eq!(svgs.len(), 2 + 1 + 2 + 4);
    for svg in svgs {
        assert!(well_formed(svg) > 10, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), 9);
}

#[test]
fn it_opens_with_question_answer_and_belief_in_this_order() {
    let page = page();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("the page lacks {text}"));
    let order = [
        "<h1>Which Go framework",
        "class=\"answer\"",
        "<h2>Can these numbers be believed?",
        "With reservations.",
        "generator and target share 2 CPUs",
        "run on a host with at least 4 cores",
        "obey Little&#39;s law",
        "<h2>Claims",
        "does not hold",
        "<h2>Comparison",
        "<h2>Cells",
        "an interval needs 5",
        "<h2>Charts",
        "<h2>Trials",
        "p99 pacer lag 412 µs is over",
        "<h2>Environment",
        " warning</span>",
        "go1.26.3",
        "<h2>How to reproduce",
        "prony run experiments/go-frameworks.toml",
        "connections = [16, 128]",
    ];
    let places: Vec<_> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn tables_have_captions_and_scopes() {
    let page = page();
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    let tables = page.matches("<table").count();
    assert_eq!(tables, 8);
    assert_eq!(page.matches("<caption").count(), tables);
    let heads = page.matches("<th ").count() + page.matches("<th>").count();
    assert_eq!(page.matches(" scope=\"").count(), heads);
}

/// The ledger of messages stands in every form of the report, of cells that have one.
#[test]
fn messages_of_streams_have_a_table() {
    let (run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    let forms =
        |analysis: &AnalysisFile| [report::html(&run, analysis).unwrap(), report::markdown(&run, analysis)];
    assert!(forms(&analysis).iter().all(|text| !text.contains("Messages on streams")), "none streams");
    analysis.cells[1].messages = Some(CellMessages {
        scheduled: 12_000,
        completed: 11_990,
        failed: 6,
        unanswered: 2,
        censored: 4,
        completed_per_s: 1_199.0,
        per_stream: Some(24.25),
        gap_p99_ns: Some(7_000_000),
        ..CellMessages::default()
    });
    for text in forms(&analysis) {
        let (_, table) = text.split_once("Messages on streams").expect("there is a table");
        for part in ["scheduled = completed + failed + censored", "12,000", "11,990", "1,199/s", "7.00 ms"] {
            assert!(table.contains(part), "no `{part}` in {table}");
        }
    }
    let page = report::html(&run, &analysis).unwrap();
    assert_eq!(page.matches("<caption").count(), page.matches("<table").count());
}

#[test]
fn numbers_that_are_none_neither_print_nor_stop_a_chart() {
    let mut analysis = crate::sample::analysis();
    let odd = [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0];
    for (index, trial) in analysis.trials.iter_mut().enumerate() {
        trial.values.iter_mut().for_each(|value| value.value = Some(odd[index % 5]));
        trial.series.iter_mut().for_each(|point| point.throughput_per_s = odd[index % 5]);
        trial.series.iter_mut().for_each(|point| point.t_ns = u64::MAX);
    }
    for (index, comparison) in analysis.comparisons.iter_mut().enumerate() {
        comparison.ratio = Some(odd[index % 5]);
        comparison.interval.iter_mut().for_each(|interval| interval.low = None);
    }
    for cell in &mut analysis.cells {
        cell.metrics.iter_mut().for_each(|summary| summary.center = Some(f64::NAN));
        cell.curve.iter_mut().for_each(|point| point.ns = u64::MAX);
    }
    let run = crate::sample::plan::run_file();
    let page = report::html(&run, &analysis).unwrap();
    for svg in svgs(&page) {
        well_formed(svg);
    }
    let style = report::Style::PLAIN;
    let texts = [
        page,
        report::terminal(&run, &analysis, style),
        report::markdown(&run, &analysis),
        report::csv(&run, &analysis).unwrap(),
    ];
    for text in texts {
        assert!(!text.contains("NaN") && !text.contains("inf,") && !text.contains("inf "), "{text}");
    }
}
