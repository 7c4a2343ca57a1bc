//! Costs of layers in every format, with a snapshot of the text; hostile names that do not act.

use report::Style;
use schema::analysis::{AnalysisFile, Interval};
use schema::layers::{LayerCost, LayerCosts, LayerMetric, LayerPlace, LayerVerdict};
use schema::metric::Metric;

/// A layer from one sum to the next, with an interval of ± 200 ns times the scale where it has an answer.
fn layer(place: usize, (from, to): (f64, f64), scale: f64, verdict: LayerVerdict) -> LayerCost {
    let refused = verdict == LayerVerdict::Refused;
    let (cost, reach) = ((to - from) * scale, 200.0 * scale);
    LayerCost {
        level: format!("middleware-{place}"),
        cell: format!("c{}", place + 1),
        against: format!("middleware-{}", place - 1),
        blocks: if refused { 4 } else { 6 },
        cost_ns: Some(cost),
        interval: (!refused).then_some(Interval { low: Some(cost - reach), high: Some(cost + reach) }),
        p_value: (!refused).then_some(0.001),
        p_holm: (!refused).then_some(if verdict == LayerVerdict::NotShown { 0.62 } else { 0.0004 }),
        verdict,
        refused: refused
            .then(|| "5 blocks with a valid trial of both needed, had 4: run 1 more block".into()),
        place: Some(LayerPlace {
            from_ns: from * scale,
            to_ns: to * scale,
            to_low_ns: (!refused).then_some(to * scale - reach),
            to_high_ns: (!refused).then_some(to * scale + reach),
        }),
    }
}

fn in_metric(metric: Metric, scale: f64) -> LayerMetric {
    let total = LayerCost {
        level: "middleware-4".into(),
        place: None,
        ..layer(4, (12_300.0, 15_900.0), scale, LayerVerdict::Costs)
    };
    LayerMetric {
        metric,
        base: "middleware-0".into(),
        base_cell: "c1".into(),
        base_ns: Some(12_300.0 * scale),
        base_refused: None,
        layers: vec![
            layer(1, (12_300.0, 13_500.0), scale, LayerVerdict::Costs),
            layer(2, (13_500.0, 13_450.0), scale, LayerVerdict::NotShown),
            layer(3, (13_450.0, 16_800.0), scale, LayerVerdict::Refused),
            layer(4, (16_800.0, 15_900.0), scale, LayerVerdict::Saves),
        ],
        total: Some(total),
    }
}

fn analysis() -> AnalysisFile {
    let mut analysis = crate::sample::analysis();
    analysis.layers = vec![LayerCosts {
        factor: "scenario".into(),
        at: "go/gin, 64 connections".into(),
        metrics: vec![in_metric(Metric::CpuPerRequest, 1.0), in_metric(Metric::Mean, 40.0)],
    }];
    analysis
}

fn texts(analysis: &AnalysisFile) -> [String; 3] {
    let run = crate::sample::plan::run_file();
    [
        report::terminal(&run, analysis, Style::PLAIN),
        report::markdown(&run, analysis),
        report::html(&run, analysis).unwrap(),
    ]
}

fn section<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let text = &text[text.find(begin).expect("the section is there")..];
    text[begin.len()..].find(end).map_or(text, |at| text[..begin.len() + at].trim_end())
}

#[test]
fn the_text_is_a_table_with_bars() {
    let [terminal, markdown, _] = texts(&analysis());
    insta::assert_snapshot!("layers_terminal", section(&terminal, "Layers", "Cells"));
    insta::assert_snapshot!("layers_markdown", section(&markdown, "## Layers", "\n## "));
    assert!(terminal.lines().all(|line| line.chars().count() <= 80), "{terminal}");
}

#[test]
fn the_page_has_a_waterfall_for_each_metric_with_readable_values() {
    let [_, _, html] = texts(&analysis());
    let before = texts(&crate::sample::analysis())[2].matches("<svg").count();
    assert_eq!(html.matches("<svg").count(), before + 2);
    let chart = section(&html, "<section id=\"layers\">", "</section>");
    for text in [
        "CPU per request, scenario at go/gin, 64 connections",
        "+ middleware-1: +1.20 µs",
        "+ middleware-2: −50 ns, not shown",
        "with all layers: 15.9 µs",
        ">+ middleware-4</th>",
    ] {
        assert!(chart.contains(text), "no `{text}` in {chart}");
    }
    // What costs, what saves and what shows nothing differ in colour and in words.
    assert!(chart.contains("#D55E00") && chart.contains("#0072B2") && chart.contains("no cost shown"));
    // Kept where a developer can open it: `target/tmp/layers.html`.
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers.html");
    std::fs::write(file, &html).unwrap();
}

#[test]
fn without_layers_there_is_no_section() {
    for text in texts(&crate::sample::analysis()) {
        assert!(!text.contains("Layers"));
    }
}

#[test]
fn hostile_names_and_numbers_do_not_act() {
    let mut analysis = analysis();
    let evil = "<script>x</script>\u{1b}[2J | `y` \u{202e}";
    let costs = &mut analysis.layers[0];
    (costs.factor, costs.at) = (evil.into(), evil.into());
    let odd = [f64::NAN, f64::INFINITY, -1e300, 1e300];
    for (at, metric) in costs.metrics.iter_mut().enumerate() {
        metric.base = evil.into();
        metric.base_ns = Some(odd[at]);
        for (at, layer) in metric.layers.iter_mut().enumerate() {
            (layer.level, layer.refused) = (evil.into(), Some(evil.into()));
            layer.cost_ns = Some(odd[at]);
            layer.place = Some(LayerPlace { from_ns: odd[at], to_ns: odd[3 - at], ..LayerPlace::default() });
        }
    }
    // A base that can be drawn, with layers that cannot.
    analysis.layers[0].metrics[1].base_ns = Some(5e3);
    let all = texts(&analysis);
    // A terminal knows no markup.
    assert!(all[1..].iter().all(|text| !text.contains("<script>x")));
    for text in all {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}
