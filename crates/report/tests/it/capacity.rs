//! Ladders and searches say the same in every format, refusals included, and nothing hostile acts in them.

use report::Style;
use schema::analysis::{AnalysisFile, Interval};
use schema::capacity::*;
use schema::metric::Metric;

const HOSTILE: &str = "<script>x</script>\u{1b}[2J|`b`\"'>";

fn estimate(value: f64, by: f64) -> Estimate {
    Estimate {
        value: Some(value),
        interval: Some(Interval { low: Some(value - by), high: Some(value + by) }),
    }
}

fn row(load: f64, throughput: f64) -> CapacityRow {
    CapacityRow {
        cell: "c1".into(),
        load,
        trials_valid: 5,
        throughput_per_s: estimate(throughput, 20.0),
        p95_ns: estimate(4e6, 1e5),
        error_rate: Estimate { value: Some(0.0), interval: None },
        second_difference: Some(-0.5),
        laws: Laws {
            concurrency: Some(load * 1.2),
            concurrency_ratio: Some(1.2),
            holds: Some(false),
            cpus_busy: Some(0.93),
            bound_per_s: Some(12_000.0),
            bound_share: Some(0.7),
        },
    }
}

fn ladder() -> Capacity {
    let knee = Knee {
        metric: Metric::Throughput,
        at: Some(412.0),
        interval: Some(Interval { low: Some(380.0), high: None }),
        law: Some(ScalingLawName::Queue),
        slope_before: Some(0.98),
        slope_after: Some(0.03),
        delta_bic: Some(88.1),
        kneedle: Some(400.0),
        sharpest: Some(400.0),
        refused: None,
    };
    let refused = "p95 bends nowhere between 100 and 800 (ΔBIC 3, 10 needed): raise the ladder";
    let none =
        Knee { metric: Metric::P95, at: None, interval: None, refused: Some(refused.into()), ..knee.clone() };
    Capacity {
        target: "go/gin".into(),
        level: String::new(),
        axis: LoadAxis::Connections,
        answer: "go/gin takes 8,000 requests per second at most".into(),
        rows: [100.0, 200.0, 400.0, 800.0].map(|n| row(n, (20.0 * n).min(8_000.0))).into(),
        highest: Some(HighestThroughput {
            per_s: 8_000.0,
            interval: Some(Interval { low: Some(7_910.0), high: Some(8_090.0) }),
            from_load: 400.0,
            to_load: 800.0,
            refused: None,
        }),
        highest_refused: None,
        knees: vec![knee, none],
        scaling: Some(Scaling {
            best: Some(ScalingLawName::Queue),
            laws: Vec::new(),
            predictions: vec![UslPoint { n: 3_200.0, per_s: estimate(8_010.0, 90.0), is_beyond: true }],
            refused: None,
            text: "of 9 laws a queue fits best".into(),
        }),
        usl: Some(UslFit {
            alpha: estimate(0.03, 0.01),
            beta: Estimate {
                value: Some(0.0),
                interval: Some(Interval { low: Some(0.0), high: Some(1e-6) }),
            },
            gamma: estimate(25.0, 1.0),
            peak: Estimate { value: None, interval: Some(Interval { low: Some(900.0), high: None }) },
            peak_per_s: estimate(8_500.0, 300.0),
            peak_is_beyond: true,
            peak_is_shown: true,
            misfit: 0.08,
            predictions: vec![UslPoint { n: 1_600.0, per_s: estimate(8_300.0, 200.0), is_beyond: true }],
        }),
        usl_refused: None,
        hysteresis: vec![Hysteresis {
            load: 400.0,
            metric: Metric::Throughput,
            pairs: 5,
            ratio: Some(1.25),
            interval: Some(Interval { low: Some(1.2), high: Some(1.3) }),
            is_shown: true,
            refused: None,
        }],
        search: None,
    }
}

fn search(text: &str) -> Capacity {
    let step = SearchStep {
        trial: 1,
        rate_per_s: 512.0,
        purpose: SearchPurpose::Bracket,
        passed: None,
        reasons: vec![text.into()],
    };
    let search = SearchResult {
        objective: vec![text.into()],
        verified_per_s: Some(480.0),
        limit: Some(Interval { low: Some(470.0), high: Some(505.0) }),
        confirmations: 5,
        after_failure: 2,
        end: SearchEnd::Verified,
        refused: Some(text.into()),
        steps: vec![step],
    };
    Capacity {
        axis: LoadAxis::Rate,
        target: text.into(),
        answer: text.into(),
        knees: Vec::new(),
        usl: None,
        hysteresis: Vec::new(),
        search: Some(search),
        ..ladder()
    }
}

fn formats(analysis: &AnalysisFile) -> [(&'static str, String); 3] {
    let run = crate::sample::plan::run_file();
    [
        ("terminal", report::terminal(&run, analysis, Style::PLAIN)),
        ("markdown", report::markdown(&run, analysis)),
        ("html", report::html(&run, analysis).unwrap()),
    ]
}

#[test]
fn every_format_tells_knee_law_refusal_and_search() {
    let mut analysis = crate::sample::analysis();
    analysis.capacity = vec![ladder(), search("errors under 1 percent")];
    for (name, text) in formats(&analysis) {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in [
            "412 (380 … the last levels; slopes 0.98 and 0.03, ΔBIC 88.1",
            "refused: p95 bends nowhere between 100 and 800",
            "N\\* = ∞ (900 … ∞), beyond the ladder: a prediction",
            "(beyond the ladder)",
            "8,000/s",
            "480/s (5 of 5 passed, 2 of them right after a rate that failed)",
            "errors under 1 percent",
            "+25.0 %",
        ] {
            // Markdown escapes the star.
            let found = words.contains(expected) || words.contains(&expected.replace('\\', ""));
            assert!(found, "{name} has no `{expected}`:\n{words}");
        }
    }
    let html = &formats(&analysis)[2].1;
    assert!(html.contains("Throughput over load, go/gin"), "the chart");
}

#[test]
fn runs_without_a_ladder_have_no_such_section() {
    for (name, text) in formats(&crate::sample::analysis()) {
        assert!(!text.contains("Scalability") && !text.contains("id=\"capacity\""), "{name}");
    }
}

#[test]
fn hostile_texts_and_numbers_are_inert() {
    let mut analysis = crate::sample::analysis();
    let mut odd = search(HOSTILE);
    odd.level = HOSTILE.into();
    for (row, value) in odd.rows.iter_mut().zip([f64::MAX, 0.0, -1.0, 1e-300]) {
        (row.load, row.throughput_per_s.value) = (value, Some(value));
    }
    let mut refused = ladder();
    (refused.highest, refused.highest_refused) = (None, Some(HOSTILE.into()));
    (refused.usl, refused.usl_refused) = (None, Some(HOSTILE.into()));
    refused.knees.iter_mut().for_each(|knee| (knee.at, knee.refused) = (None, Some(HOSTILE.into())));
    refused.hysteresis[0].interval = None;
    refused.hysteresis[0].refused = Some(HOSTILE.into());
    refused.rows.clear();
    analysis.capacity = vec![odd, refused];
    for (name, text) in formats(&analysis) {
        assert!(!text.contains('\u{1b}'), "{name}");
        let acts = match name {
            "terminal" => false,
            "html" => text.contains("<script>x"),
            // In a code span it is text; in prose it must be escaped.
            _ => text.lines().any(|line| {
                let line = line.replace("\\`", "");
                line.split('`').step_by(2).any(|prose| prose.contains("<script>x"))
            }),
        };
        assert!(!acts, "{name}:\n{text}");
    }
}
