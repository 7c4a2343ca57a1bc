//! One load as text, CSV, Markdown and a page: snapshots of the sample load, and what must hold for any load.

use report::{LoadSeries, Style};
use schema::analysis::CurvePoint;
use schema::load::{
    ErrorClass, LatencySummary, LoadReport, MessageSummary, StreamLength, StreamSummary, ThresholdResult,
};
use schema::trial::{IntervalLine, MessageInterval, Phase};

fn series() -> LoadSeries {
    let line = |second: u64| IntervalLine {
        start_ns: second * 1_000_000_000,
        end_ns: (second + 1) * 1_000_000_000,
        phase: Some(if second == 0 { Phase::Warmup } else { Phase::Sample }),
        scheduled: 2_000,
        completed: 1_990 + second,
        failed: [(ErrorClass::Timeout, second % 3)].into(),
        status: [(200, 1_990 + second), (503, 1)].into(),
        p50_ns: Some(1_200_000 + 10_000 * second),
        p99_ns: (second != 4).then_some(4_000_000 + 300_000 * second),
        ..IntervalLine::default()
    };
    let curve = |scale: f64| -> Vec<CurvePoint> {
        [0.0, 0.5, 0.9, 0.99, 0.999]
            .into_iter()
            .map(|quantile: f64| CurvePoint {
                quantile,
                ns: (scale * 1e6 / (1.0 - quantile).powf(0.4)) as u64,
            })
            .collect()
    };
    LoadSeries {
        intervals: (0..10).map(line).collect(),
        curves: vec![("response", curve(1.2)), ("service", curve(1.1))],
    }
}

#[test]
fn a_load_over_streams_says_what_its_requests_waited_for() {
    let mut load = crate::sample::load::load_report();
    let wide = Style { width: 120, color: false };
    let text = |load: &LoadReport| report::load_text(load, wide, false);
    assert!(!text(&load).contains("waited for"), "nothing waited");
    load.streams = Some(StreamSummary { asked: 100, granted: Some(10), ..StreamSummary::default() });
    let wait = |mean, p99| LatencySummary { mean: Some(mean), p99, ..LatencySummary::default() };
    load.latency_ns.wait_stream = wait(48.1e6, Some(95_000_000));
    load.latency_ns.wait_window = wait(0.0, Some(0));
    load.latency_ns.wait_connection = wait(90e6, None);
    let line = "waited for   a connection 90.0 ms (mean); a stream 48.1 ms (mean), 95.0 ms (p99)";
    let found = text(&load);
    assert!(found.contains(line), "{found}");
}

fn with_messages() -> LoadReport {
    let mut load = crate::sample::load::load_report();
    let times = |count, p50, p99| LatencySummary {
        count,
        mean: Some(p50 as f64),
        p50: Some(p50),
        p99: Some(p99),
        ..LatencySummary::default()
    };
    load.messages = Some(MessageSummary {
        scheduled: 12_000,
        completed: 11_990,
        failed: 6,
        unanswered: 2,
        censored: 4,
        queued: 30,
        received: 11_991,
        received_per_s: 1_199.1,
        unasked: 1,
        completed_per_s: 1_199.0,
        per_stream: Some(StreamLength { streams: 500, mean: 23.98, min: 20, p50: 24, max: 24 }),
        first_message: times(500, 2_000_000, 9_000_000),
        gap: times(11_491, 1_000_000, 7_000_000),
        ..MessageSummary::default()
    });
    load
}

#[test]
fn the_ledger_of_messages_stands_beside_that_of_streams() {
    let load = with_messages();
    let text = report::load_text(&load, Style { width: 160, color: false }, false);
    let ledger =
        "12,000 scheduled = 11,990 completed + 6 failed (2 unanswered) + 4 censored, 1,199/s, 30 waited";
    let received = "11,991 messages, 1,199/s, 24.0 (20 to 24) on each stream, 1 answered nothing";
    for part in [ledger, received, "first message", "message gap"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("message response"), "a time without a value is left out: {text}");
    let mut series = series();
    let messages =
        MessageInterval { scheduled: 50, completed: 48, received: 70, ..MessageInterval::default() };
    series.intervals.iter_mut().for_each(|line| line.messages = Some(messages));
    let page = report::load_html(&load, &series).unwrap();
    assert!(page.contains(ledger) && page.contains("message gap"));
    assert!(page.contains("completed/s from 48 to 48; received/s from 70 to 70"), "a chart over time");
    let rows = report::series_csv(&series.intervals).unwrap();
    assert!(rows.lines().nth(1).unwrap().ends_with(",50,48,0,0,70,,"), "{rows}");
    assert!(report::load_markdown(&load).contains("message gap"));
    let csv = report::load_csv(&load).unwrap();
    let (names, values) = csv.trim_end().split_once('\n').unwrap();
    // Read from the end, because texts before these columns have commas.
    let of = |name: &str| names.rsplit(',').zip(values.rsplit(',')).find(|(found, _)| *found == name);
    for (name, value) in [
        ("scheduled_messages", "12000"),
        ("unanswered_messages", "2"),
        ("censored_messages", "4"),
        ("completed_messages_per_s", "1199"),
        ("messages_per_stream", "23.98"),
        ("first_message_p99_ns", "9000000"),
        ("message_gap_p99_ns", "7000000"),
        ("message_response_p99_ns", ""),
    ] {
        assert_eq!(of(name), Some((name, value)));
    }
}

fn with_thresholds() -> LoadReport {
    let threshold = |expression: &str, failed, decided, text: &str| ThresholdResult {
        expression: expression.to_owned(),
        failed,
        decided,
        value: decided.then_some(4.87e6),
        limit: 5e7,
        text: text.into(),
    };
    let mut load = crate::sample::load::load_report();
    load.thresholds = vec![
        threshold("p99>50ms", false, true, "4.87 ms"),
        threshold("errors>0.1%", true, true, "0.435 %"),
        threshold("send_lag.p99.9>1ms", true, false, "cannot be decided: needs 3,688 requests, had 1,992"),
    ];
    load
}

#[test]
fn text_begins_with_what_forbids_its_use_and_tells_the_thresholds() {
    insta::assert_snapshot!(report::load_text(&with_thresholds(), Style::PLAIN, false));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(report::load_markdown(&with_thresholds()));
}

#[test]
fn csv_is_a_header_and_a_row() {
    let text = report::load_csv(&with_thresholds()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    // One name and value a line, so that a change of the header is seen.
    let pairs: Vec<String> =
        lines[0].split(',').zip(lines[1].split(',')).map(|(n, v)| format!("{n} = {v}")).collect();
    insta::assert_snapshot!(pairs.join("\n"));
}

#[test]
fn series_have_a_row_an_interval() {
    let text = report::series_csv(&series().intervals).unwrap();
    assert_eq!(text.lines().count(), 11);
    insta::assert_snapshot!(text.lines().take(3).collect::<Vec<_>>().join("\n"));
    assert_eq!(report::series_csv(&[]).unwrap().lines().count(), 1, "a header tells the columns of nothing");
}

/// Any XML reader may read the page: the parts of HTML that XML does not know are not used, but for void tags.
fn charts(page: &str) -> Vec<&str> {
    page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()).collect()
}

#[test]
fn the_page_has_all_parts_and_loads_nothing() {
    let page = report::load_html(&with_thresholds(), &series()).unwrap();
    for part in [
        "1,992/s right answers",
        "must not be used",
        "pacer lag",
        "p99&#62;50ms",
        "send lag",
        "≥ 912 ms",
        "127.0.0.1:8080",
    ] {
        assert!(page.contains(part), "no `{part}`");
    }
    assert_eq!(charts(&page).len(), 4, "percentiles, rate, times, failures");
    for outside in ["<script", "<link", "src=", "url(", "@import"] {
        assert!(!page.contains(outside), "`{outside}` loads something");
    }
}

#[test]
fn a_load_of_nothing_is_still_a_page() {
    let page = report::load_html(&crate::sample::load::load_report(), &LoadSeries::default()).unwrap();
    assert_eq!(charts(&page).len(), 0);
    assert!(page.contains("Can these numbers be believed?"));
}

#[test]
fn hostile_text_acts_nowhere() {
    const EVIL: &str = "</style><script>alert(1)</script>\u{1b}[31m|`=cmd()";
    let mut load = with_thresholds();
    load.plan.url = EVIL.into();
    load.plan.scenario.requests[0].request.path = EVIL.into();
    load.plan.scenario.requests[0].request.headers = vec![(EVIL.into(), EVIL.into())];
    load.plan.driver = EVIL.into();
    load.error_examples.values_mut().flatten().for_each(|text| *text = EVIL.into());
    for threshold in &mut load.thresholds {
        (threshold.expression, threshold.text) = (EVIL.into(), EVIL.into());
    }
    for gate in load.validity.reasons.iter_mut().chain(&mut load.validity.gates) {
        (gate.gate, gate.text) = (EVIL.into(), EVIL.into());
    }
    load.latency_ns.service.refused.insert("p50".into(), EVIL.into());
    load.latency_ns.service.p50 = None;
    let page = report::load_html(&load, &series()).unwrap();
    assert_eq!(page.matches("<script").count(), 0);
    assert_eq!(page.matches("</style>").count(), 1);
    let markdown = report::load_markdown(&load);
    for line in markdown.lines() {
        let outside_code = line.split('`').step_by(2).collect::<String>();
        assert!(!outside_code.replace("\\<", "").contains('<'), "{line}");
    }
    let text = report::load_text(&load, Style::PLAIN, true) + &markdown + &report::load_csv(&load).unwrap();
    assert!(!text.contains('\u{1b}'));
}

/// A load of two requests with sessions, tokens and failed answers.
fn with_parts() -> LoadReport {
    use schema::load::{FailedAnswer, RequestSummary, Requests, SessionSummary, TokenKind, TokenSummary};
    let mut load = crate::sample::load::load_report();
    let entry = |name: &str, share: f64, requests: Requests| RequestSummary {
        name: name.to_owned(),
        share,
        requests,
        response: load.latency_ns.response.clone(),
        ..RequestSummary::default()
    };
    load.by_request = vec![
        entry("list", 0.75, Requests { scheduled: 75, completed: 74, failed: 1, censored: 0 }),
        entry("buy <b>|x", 0.25, Requests { scheduled: 25, completed: 25, failed: 0, censored: 0 }),
    ];
    load.sessions = Some(SessionSummary { started: 5, completed: 4, failed: 1, ..SessionSummary::default() });
    load.tokens = vec![TokenSummary {
        name: "api".to_owned(),
        kind: TokenKind::BadlySigned,
        status: [(401, 7)].into_iter().collect(),
    }];
    load.failed_answers = vec![FailedAnswer {
        request: "list\u{1b}[31m".to_owned(),
        check: "contains \"ok\"".to_owned(),
        status: 200,
        body: "<script>alert(1)</script>\r\n".repeat(50),
        body_bytes: 1350,
    }];
    load
}

#[test]
fn a_scenario_shows_its_requests_sessions_tokens_and_failed_answers() {
    let load = with_parts();
    let text = report::load_text(&load, report::Style { width: 100, color: false }, false);
    for expected in ["list", "75.0 %", "5 started", "api badly signed", "401 × 7", "contains \"ok\""] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text}");
    let markdown = report::load_markdown(&load);
    assert!(
        markdown.contains("badly signed") && !markdown.contains("<script>alert(1)</script>|"),
        "{markdown}"
    );
    let html = report::load_html(&load, &report::LoadSeries::default()).unwrap();
    assert!(html.contains("buy &#60;b&#62;|x") || html.contains("buy &lt;b&gt;|x"), "escaped");
    assert!(!html.contains("<script>alert"), "a hostile body acts as markup");
}
