//! Factors, differences and unbounded ratios in the report's three forms.

use report::Style;
use schema::analysis::{AnalysisFile, Basis, Interval, RatioOfMeans, Verdict};
use schema::metric::Metric;

fn analysis() -> AnalysisFile {
    let mut analysis = crate::sample::analysis();
    analysis.effects = Some(crate::sample::effects());
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

/// The section of the terminal's text that begins with this heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let begin = text.find(heading).expect("the section is there");
    text[begin..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn effects_are_told_with_interval_and_what_is_not_shown_says_so() {
    let [terminal, markdown, html] = texts(&analysis());
    insta::assert_snapshot!(section(&terminal, "Factors"), @r"
    Factors  change against the first level; all effects are in the files
      target: go/gin, go/echo
      connections: 16, 128
      ✓ Throughput target go/echo against go/gin: −1.8 % (−2.8 … −0.8 %), shown
      ✓ Throughput connections 128 against 16: +15.2 % (+14.2 … +16.2 %), shown
    ");
    for text in [&markdown, &html] {
        assert!(text.contains("Factors") && text.contains("−1.8 %") && text.contains("−2.8 … −0.8 %"));
        assert!(text.contains("target go/echo against go/gin × connections 128 against 16"), "{text}");
        assert!(text.contains("not shown") && text.contains("0.310"));
        assert!(text.contains("Errors: a value is 0, which has no logarithm"));
    }
    // Without crossed factors there is no section.
    for text in texts(&crate::sample::analysis()) {
        assert!(!text.contains("Factors"));
    }
}

#[test]
fn effects_that_cannot_be_had_say_why() {
    let mut analysis = analysis();
    let effects = analysis.effects.as_mut().unwrap();
    (effects.factors, effects.effects) = (Vec::new(), Vec::new());
    effects.metrics_refused.clear();
    effects.refused = Some("the cells are not every combination of the factors".into());
    for text in texts(&analysis) {
        assert!(text.contains("the cells are not every combination of the factors"), "{text}");
    }
}

#[test]
fn shares_are_shown_as_differences() {
    let mut analysis = crate::sample::analysis();
    let row = &mut analysis.comparisons[2];
    (row.metric, row.basis, row.verdict) = (Metric::ErrorRate, Basis::Difference, Verdict::Slower);
    (row.ratio, row.interval, row.ratio_of_means) = (None, None, None);
    row.difference = Some(0.004);
    row.difference_interval = Some(Interval { low: Some(0.0031), high: Some(0.0049) });
    row.hodges_lehmann = Some(0.0041);
    row.hodges_lehmann_interval = Some(Interval { low: Some(-0.001), high: None });
    let [_, markdown, html] = texts(&analysis);
    for text in [&markdown, &html] {
        assert!(text.contains("+0.400 %") && text.contains("+0.310 … +0.490 %"), "{text}");
        assert!(text.contains("+0.410 % (−0.100 % … ∞)"), "{text}");
    }
}

#[test]
fn an_unbounded_ratio_is_printed_as_such() {
    let mut analysis = crate::sample::analysis();
    let unbounded = Interval { low: None, high: None };
    analysis.comparisons[0].ratio_of_means = Some(RatioOfMeans {
        ratio: 3.1067,
        interval: unbounded,
        excluded: Some(Interval { low: Some(-2.0622), high: Some(1.523) }),
    });
    analysis.comparisons[1].ratio_of_means =
        Some(RatioOfMeans { ratio: 2.0, interval: unbounded, excluded: None });
    let [_, markdown, html] = texts(&analysis);
    for text in [&markdown, &html] {
        assert!(text.contains("×3.11 (unbounded, but not ratios of −2.062 … 1.523)"), "{text}");
        assert!(text.contains("×2.00 (unbounded)"), "{text}");
    }
}
