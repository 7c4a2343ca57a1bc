//! The memory of a target over time in every format: panels where something was read, and none where it was not.

use report::Style;
use schema::analysis::AnalysisFile;
use schema::memory_view::{MemoryKind, MemorySeries, MemoryView};

fn series(kind: MemoryKind, value: impl Fn(usize) -> Option<f64>) -> MemorySeries {
    MemorySeries { kind, from: "go.runtime/x".into(), values: (0..30).map(value).collect() }
}

fn view() -> MemoryView {
    // A saw with a gap, and steps of resident memory.
    let saw = |at: usize| 4e6 + 1e6 * (at % 5) as f64;
    MemoryView {
        trial: 3,
        begin_ns: 4_000_000_000,
        ends_ns: (5..35).map(|at| at * 1_000_000_000).collect(),
        series: vec![
            series(MemoryKind::Resident, |at| Some(1.8e7 + 2e5 * (at / 6) as f64)),
            series(MemoryKind::Heap, |at| (at != 9).then(|| saw(at))),
            series(MemoryKind::AllocRate, |at| Some(5.1e7 + 4e5 * (at % 3) as f64)),
            series(MemoryKind::Collections, |at| Some(30.0 + (at % 2) as f64)),
            series(MemoryKind::Pauses, |at| Some(4e6 + 3e5 * (at % 4) as f64)),
            series(MemoryKind::P99, |at| Some(if at == 17 { 6e6 } else { 2.1e6 })),
        ],
        alloc_per_request_bytes: Some(1_228.8),
        alloc_per_request_objects: Some(9.0),
        collections_per_s: Some(31.0),
        pause_share: Some(0.004),
        gc_cpu_share: Some(0.123),
    }
}

fn analysis(view: MemoryView) -> AnalysisFile {
    let mut analysis = crate::sample::analysis();
    analysis.cells[0].memory_view = Some(view);
    analysis
}

fn texts(analysis: &AnalysisFile) -> [String; 3] {
    let run = crate::sample::plan::run_file();
    [
        report::terminal(&run, analysis, Style { color: false, width: 120 }),
        report::markdown(&run, analysis),
        report::html(&run, analysis).unwrap(),
    ]
}

fn section(html: &str) -> &str {
    let begin = html.find("<section id=\"memory\">").expect("the section is there");
    &html[begin..begin + html[begin..].find("</section>").unwrap()]
}

const PANELS: [&str; 6] = [
    "resident memory",
    "heap in use",
    "allocated per second",
    "collections per second",
    "time in pauses, per second",
    "p99 response time",
];

#[test]
fn one_line_tells_what_a_request_allocates_and_what_collections_take() {
    let texts = texts(&analysis(view()));
    let line = "allocates 1.20 KiB in 9 objects for each request; 31 collections per second, pauses take 0.400 % of \
                the time, 12.3 % of its CPU time is collection";
    for text in &texts {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(line), "{words}");
    }
    // Only what is known is printed.
    let some =
        MemoryView { alloc_per_request_objects: None, collections_per_s: None, gc_cpu_share: None, ..view() };
    assert!(
        self::texts(&analysis(some))[1]
            .contains("allocates 1.20 KiB for each request; pauses take 0.400 % of the time\n")
    );
}

#[test]
fn the_page_has_a_panel_for_each_thing_that_was_read() {
    let [_, _, html] = texts(&analysis(view()));
    let all = section(&html);
    assert_eq!(all.matches("<svg").count(), 1);
    for panel in PANELS {
        // Once in the picture, once for those who cannot see it; the time axis once for all.
        assert!(all.matches(panel).count() >= 2, "no {panel} in {all}");
    }
    assert_eq!(all.matches("10 s\n").count(), 1, "one time axis");
    assert!(all.contains("p99 response time from 2.10 ms to 6.00 ms"));
    // Kept where a developer can open it: `target/tmp/memory.html`.
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory.html");
    std::fs::write(file, &html).unwrap();
}

#[test]
fn what_was_not_read_has_no_panel_and_no_section() {
    let mut some = view();
    some.series.retain(|series| matches!(series.kind, MemoryKind::Resident | MemoryKind::P99));
    some.series[0].values.fill(None);
    let [_, _, html] = texts(&analysis(some));
    let all = section(&html);
    assert!(all.contains("p99 response time") && !all.contains("resident memory"), "{all}");
    assert!(!all.contains("collections per second") || all.contains("31 collections per second"));
    for text in texts(&crate::sample::analysis()) {
        assert!(
            !text.contains("heap in use") && !text.contains("id=\"memory\"") && !text.contains("## Memory")
        );
    }
    let nothing = MemoryView { trial: 3, ..MemoryView::default() };
    assert!(!texts(&analysis(nothing))[2].contains("id=\"memory\""));
}

#[test]
fn numbers_that_are_none_neither_print_nor_stop_a_chart() {
    let odd = [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0];
    let mut hostile = view();
    for series in &mut hostile.series {
        series.values = (0..90).map(|at| Some(odd[at % 5])).collect();
    }
    hostile.ends_ns = vec![u64::MAX; 90];
    (hostile.alloc_per_request_bytes, hostile.pause_share) = (Some(f64::NAN), Some(f64::INFINITY));
    for text in texts(&analysis(hostile)) {
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}
