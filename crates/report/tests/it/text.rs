//! What people read in a terminal and a spreadsheet, as snapshots of the sample run and the sample load.

use report::Style;
use schema::said;
use schema::trial::TrialOutcome;

#[test]
fn the_instruments_own_error_stands_behind_its_limits() {
    let mut analysis = crate::sample::analysis();
    analysis.instrument =
        Some(said!("instrument.error_unknown", "the instrument's own error is unknown and in no interval"));
    let run = crate::sample::plan::run_file();
    let line =
        "not calibrated: run `prony calibrate`; the instrument's own error is unknown and in no interval";
    let short = report::terminal(&run, &analysis, Style::PLAIN);
    assert!(
        short.contains("  instrument: not calibrated: run `prony calibrate`; the instrument's"),
        "{short}"
    );
    let text = report::explained(&run, &analysis, Style::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("instrument: {line}")), "{text}");
    let markdown = report::markdown(&run, &analysis);
    assert!(markdown.contains("own error is unknown and in no interval."), "{markdown}");
}

#[test]
fn terminal() {
    let text = report::terminal(&crate::sample::plan::run_file(), &crate::sample::analysis(), Style::PLAIN);
    insta::assert_snapshot!(text, @r#"
    Which Go framework serves small JSON fastest on one core?
    go/gin serves 4.7 % more requests per second than go/echo at 128 connections
    (95 % interval 4.2 % to 5.2 %); at 16 connections they are equivalent.

    Ranking  by requests/s; ± is the 95 % interval over the trials
      16 connections
                    requests/s      p50       p99   CPU/req     memory  errors
      go/echo           41,633   368 µs   1.01 ms   19.4 µs   18.0 MiB     0 %
      ████████████     ±0.60 %  ±0.60 %   ±0.60 %   ±0.60 %    ±0.60 %
      go/gin           41,289¹  372 µs¹  1.02 ms¹  19.4 µs¹  17.4 MiB¹     0 %
      ███████████▉
      128 connections
                    requests/s      p50      p99  CPU/req    memory  errors
      go/gin            48,909  2.51 ms  6.90 ms  19.4 µs  23.0 MiB     0 %
      ████████████     ±0.60 %  ±0.60 %  ±0.60 %  ±0.60 %   ±0.60 %
      go/echo           46,634  2.63 ms  8.42 ms  19.4 µs  24.1 MiB     0 %
      ███████████▌     ±0.60 %  ±0.60 %  ±0.60 %  ±0.60 %   ±0.60 %
      ¹ 4 valid trials; an interval needs 5: rerun with --resume

    Can these numbers be believed? With reservations.
      ! host    generator and target share 2 CPUs: the generator used 38 % of one o…
      ! host    1 of 20 trials is void (p99 pacer lag)
      ✓ 1 check found nothing against them
      instrument: not calibrated: run `prony calibrate`

    Claims
      ✓ Gin serves more requests per second than Echo at 128 connections
        holds: throughput is 4.7 % higher (4.2 % to 5.2 %), asked for > 1.0, over 5
        blocks
      ? Gin's p99 at 128 connections is at most 80 % of Echo's
        inconclusive: p99 is 17.9 % lower (14.6 % to 21.0 %), asked for <= 0.8, over
        5 blocks; about 12 blocks would decide
      ✗ Gin uses no more CPU per request than Echo at 128 connections
        does not hold: CPU per request is 3.1 % higher (2.2 % to 4.0 %), asked for
        <= 1.0, over 5 blocks
      – Gin's p99.9 is below Echo's at 128 connections
        void: no trial has enough requests for p99.9: lengthen the samples

    Comparison  change with 95 % interval; within ±2 % counts as equal
      go/gin against go/echo, 16 connections
        Throughput  −0.8 %  −1.3 … −0.4 %  = equivalent
        p50         +1.1 %  −0.2 … +2.4 %  ? inconclusive
        p99         +1.0 %  −0.2 … +2.2 %  ? inconclusive
      go/gin against go/echo, 128 connections
        Throughput   +4.7 %    +4.2 … +5.2 %  ▲ faster
        p50          −4.6 %    −5.3 … −3.8 %  ▲ faster
        p99         −17.9 %  −21.0 … −14.6 %  ▲ faster

    Warm-up  requests per second over one trial; what is left of the bar was cut
      ▄▅▇█│██▇██  go/gin, 16 connections, trial 1: 4 s cut, until steady
      ▄▅▇█│██▇██  go/echo, 16 connections, trial 1: 4 s cut, the longest allowed,
      not yet steady
      ▄▅▇█│██▇██  go/echo, 128 connections, trial 1: 4 s cut, the longest allowed,
      not yet steady

    Trials  20 of 20 planned trials run: 19 valid, 1 void
      ! trial 14, block 4, go/gin, 16 connections: void: p99 pacer lag 412 µs is ov…

    Run folder 2026-11-21T09-30-00Z-go-frameworks
      report.html: charts, all metrics, how to reproduce; report.md; results.csv
      full sentences and remedies: prony report RUN --explain
    "#);
}

#[test]
fn reservations_are_cut_to_a_line_and_whole_with_their_remedies_on_request() {
    let (run, analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    let short = report::terminal(&run, &analysis, Style::PLAIN);
    let whole = report::explained(&run, &analysis, Style::PLAIN);
    assert!(
        short.contains("the generator used 38 % of one o…") && !short.contains("→ run on a host"),
        "{short}"
    );
    assert!(
        short.contains("prony report RUN --explain") && short.contains("1 check found nothing"),
        "{short}"
    );
    assert!(whole.contains("the generator used 38 % of one of them\n    → run on a host"), "{whole}");
    assert!(!whole.contains("--explain") && whole.contains("obey Little's law"), "{whole}");
}

#[test]
fn what_forbids_the_use_is_never_cut() {
    let (run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    analysis.belief.level = schema::analysis::BeliefLevel::No;
    analysis.belief.notes[1].level = schema::analysis::BeliefLevel::No;
    let text = report::terminal(&run, &analysis, Style::PLAIN);
    assert!(text.contains("the generator used 38 % of one of them\n    → run on a host"), "{text}");
}

/// The share of the longest bar, and who stands first, whatever the order of the plan.
#[test]
fn the_ranking_is_by_throughput_and_by_p99_where_the_load_fixes_it() {
    let (run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    let first = |analysis: &schema::analysis::AnalysisFile| {
        let text = report::terminal(&run, analysis, Style::PLAIN);
        let ranking = text.split("\n  128 connections\n").nth(1).unwrap().to_owned();
        (
            text.contains("Ranking  by requests/s"),
            ranking.lines().nth(1).unwrap().trim().starts_with("go/gin"),
        )
    };
    assert_eq!(first(&analysis), (true, true));
    for cell in &mut analysis.cells {
        for summary in &mut cell.metrics {
            let is_gin = cell.target == "go/gin";
            summary.center = match summary.metric {
                schema::metric::Metric::Throughput => Some(1_000.0),
                schema::metric::Metric::P99 => Some(if is_gin { 9e6 } else { 3e6 }),
                _ => summary.center,
            };
        }
    }
    assert_eq!(first(&analysis), (false, false));
}

#[test]
fn load() {
    let text = report::load_text(&crate::sample::load::load_report(), Style::PLAIN, false);
    insta::assert_snapshot!(text, @r#"
    ✗ These numbers must not be used:
      pacer lag: p99 pacer lag 412 µs is over the limit of 125 µs; the generator was
      late: give it a core of its own, or lower the rate

    GET http://127.0.0.1:8080/json
    open, 64 connections, 1 worker, 2,000/s Poisson, 10 s measured after at most
    20 s of warm-up, epoll

      1,992/s right answers of 2,000/s asked
      20,041 scheduled = 19,922 completed + 87 failed + 32 censored

                   mean      p50      p90       p99     p99.9      max
      response  1.32 ms  1.21 ms  1.98 ms  ~4.87 ms  ≥ 912 ms   912 ms
      service   1.24 ms  1.14 ms  1.86 ms  ~4.58 ms  ≥ 912 ms   857 ms
      send lag  66.0 µs  60.5 µs  99.0 µs   ~244 µs        –¹  45.6 ms
      ¹ p99.9: needs 3,688 requests, had 1,992: measure 1.9 times longer
      ~ 95 % intervals that span more than 25 %: response p99 4.10 … 6.20 ms;
        service p99 3.85 … 5.83 ms; send lag p99 205 … 310 µs

      failed       75 × timeout
                   12 × unexpected status
                     status 503, body `upstream is overloaded`
      status       200 × 19,922, 503 × 12
      bytes        2.74 MiB read, 1.34 MiB written
      connections  64 asked for, 64 established, 87 reconnects
      generator    412 ms CPU, busiest worker 4.10 % busy, 12.3 MiB memory
      instrument   not calibrated: run `prony calibrate`
    "#);
}

#[test]
fn load_in_detail_and_believable() {
    let mut load = crate::sample::load::load_report();
    load.validity = crate::sample::load::validity(true);
    load.errors.clear();
    load.requests.failed = 0;
    let text = report::load_text(&load, Style::PLAIN, true);
    insta::assert_snapshot!(text, @r#"
    GET http://127.0.0.1:8080/json
    open, 64 connections, 1 worker, 2,000/s Poisson, 10 s measured after at most
    20 s of warm-up, epoll

      1,992/s right answers of 2,000/s asked
      20,041 scheduled = 19,922 completed + 0 failed + 32 censored

                response   service  send lag  pacer lag  connect
      count       19,922    19,922    19,922     19,922      151
      censored       107       107         0          0        0
      mean       1.32 ms   1.24 ms   66.0 µs    26.4 µs  61.0 µs
      min         210 µs    197 µs   10.5 µs    4.20 µs        –
      p50        1.21 ms   1.14 ms   60.5 µs    24.2 µs        –
      p90        1.98 ms   1.86 ms   99.0 µs    39.6 µs        –
      p95        2.40 ms   2.26 ms    120 µs    48.0 µs        –
      p99       ~4.87 ms  ~4.58 ms   ~244 µs   ~97.4 µs        –
      p99.9     ≥ 912 ms  ≥ 912 ms        –¹         –¹        –
      max         912 ms    857 ms   45.6 ms    18.2 ms   212 µs
      ¹ p99.9: needs 3,688 requests, had 1,992: measure 1.9 times longer
      ~ 95 % intervals that span more than 25 %: response p99 4.10 … 6.20 ms;
        service p99 3.85 … 5.83 ms; send lag p99 205 … 310 µs; pacer lag p99 82.0 …
        124 µs

      status       200 × 19,922, 503 × 12
      bytes        2.74 MiB read, 1.34 MiB written
      connections  64 asked for, 64 established, 87 reconnects
      generator    412 ms CPU, busiest worker 4.10 % busy, 12.3 MiB memory
      instrument   not calibrated: run `prony calibrate`

    ✓ These numbers can be believed: 1 check passed.
    "#);
}

#[test]
fn csv_has_a_row_for_each_trial_and_units_in_its_header() {
    let text = report::csv(&crate::sample::plan::run_file(), &crate::sample::analysis()).unwrap();
    assert_eq!(text.lines().count(), 21);
    let lines: Vec<_> = [0, 1, 14].into_iter().filter_map(|line| text.lines().nth(line)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    run,trial,block,cell,target,load,outcome,throughput_per_s,mean_ns,p50_ns,p90_ns,p95_ns,p99_ns,p999_ns,error_rate_share,cpu_per_request_ns,memory_bytes,alloc_per_request_bytes,scheduled_requests,completed_requests,failed_requests,censored_requests,steady,reasons
    2026-11-21T09-30-00Z-go-frameworks,1,1,c1,go/gin,16 connections,valid,41300,386880,372000,,,1020000,,0,19400,18200000,,619564,619500,0,64,flat,
    2026-11-21T09-30-00Z-go-frameworks,14,4,c1,go/gin,16 connections,void,41258.4522,387269.59321077,372375,,,1022055,,0,19420,18200000,,618940,618876,0,64,,p99 pacer lag 412 µs is over the limit of 125 µs: the generator was late; give it a core of its own
    "#);
}

#[test]
fn text_fits_the_columns_and_colours_end_on_their_line() {
    let (run, analysis, load) =
        (crate::sample::plan::run_file(), crate::sample::analysis(), crate::sample::load::load_report());
    for width in [0, 80, 100, 400] {
        for color in [false, true] {
            let style = Style { color, width };
            let text = report::terminal(&run, &analysis, style)
                + &report::load_text(&load, style, false)
                + &report::load_text(&load, style, true);
            assert_eq!(color, text.contains('\x1b'));
            for line in text.lines() {
                let columns = textwrap::core::display_width(line);
                assert!(columns <= usize::from(width.clamp(80, 120)), "{columns} columns: {line}");
                assert!(!line.contains('\x1b') || line.rfind("\x1b[0m") == line.rfind('\x1b'), "{line:?}");
            }
        }
    }
}

#[test]
fn an_empty_analysis_is_still_a_report() {
    let (run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    analysis.trials.clear();
    analysis.cells.clear();
    analysis.comparisons.clear();
    analysis.claims.clear();
    analysis.belief.notes.clear();
    let text = report::terminal(&run, &analysis, Style::PLAIN);
    assert!(text.contains("0 of 20 planned trials run"), "{text}");
    assert!(report::markdown(&run, &analysis).contains("## Trials"));
    assert_eq!(report::csv(&run, &analysis).unwrap().lines().count(), 1);
    assert!(report::html(&run, &analysis).unwrap().contains("Can these numbers be believed?"));
}

#[test]
fn a_run_without_a_valid_trial_has_no_tables_of_dashes_and_one_line_for_one_reason() {
    let mut analysis = crate::sample::analysis();
    let busy = |share: u32| said!("test.busy", "others used {share} %", share);
    for (place, trial) in analysis.trials.iter_mut().enumerate() {
        trial.outcome = TrialOutcome::Void;
        trial.reasons = match place {
            3 => vec!["the canary drifted".into()],
            _ => vec![busy(place as u32)],
        };
    }
    let text = report::terminal(&crate::sample::plan::run_file(), &analysis, Style::PLAIN);
    assert!(!text.contains("Ranking") && !text.contains("Comparison"), "{text}");
    let trials: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("Trials")).skip(1).take(2).collect();
    assert_eq!(
        trials,
        [
            "  ! 19 trials void (1-3,5-20): others used 0 %",
            "  ! trial 4, block 1, go/echo, 128 connections: void: the canary drifted"
        ]
    );
    assert!(
        report::explained(&crate::sample::plan::run_file(), &analysis, Style::PLAIN)
            .contains("others used 19 %")
    );
}
