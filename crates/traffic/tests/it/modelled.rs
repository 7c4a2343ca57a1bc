//! The model finds the truth again, and what it writes sends the log again.

use crate::made::{self, Line, MIX};
use pace::{Schedule, Share};
use schema::arrival::{ArrivalPlan, Arrivals, RecordingEnd};
use schema::experiment::ExperimentFile;
use schema::scenario::ScenarioFile;
use schema::text::parse_toml;
use traffic::fit::Family;
use traffic::model::{GapData, Model, model};
use traffic::verdict::{Advice, Verdict, judge, shape_plan};
use traffic::write::{Written, files, write};
use units::{PerSecond, Seed};

fn modelled(text: &str) -> Model {
    let folder = tempfile::tempdir().unwrap();
    model(&[made::write(folder.path(), "access.log", text)], None, Seed(1)).unwrap()
}

fn written(model: &Model, verdict: &Verdict) -> Written {
    files(model, verdict, verdict.advice, "shop", "http://127.0.0.1:8080", Seed(1)).unwrap()
}

fn minutes(times_ns: impl Iterator<Item = u64>, count: usize) -> Vec<f64> {
    let mut minutes = vec![0.0; count];
    for time_ns in times_ns {
        if let Some(minute) = minutes.get_mut((time_ns / 60_000_000_000) as usize) {
            *minute += 1.0;
        }
    }
    minutes
}

/// Variance over mean of the counts in windows, worked out apart from the crate.
fn dispersion(times_ns: &[u64], scale_ns: u64, span_ns: u64) -> f64 {
    let mut counts = vec![0.0; (span_ns / scale_ns) as usize];
    for time_ns in times_ns {
        if let Some(count) = counts.get_mut((time_ns / scale_ns) as usize) {
            *count += 1.0;
        }
    }
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0) / mean
}

/// The times that the written load makes, by the generator's own schedule.
fn sent(model: &Model, written: &Written) -> Vec<u64> {
    let text = |ending: &str| {
        let ends = |file: &&traffic::write::OutFile| file.path.to_str().unwrap().ends_with(ending);
        &written.files.iter().find(ends).unwrap().text
    };
    let load = parse_toml::<ExperimentFile>("e.toml", text("experiments/shop.toml")).unwrap().load.unwrap();
    let (plan, shape, recorded) = match load.arrivals.unwrap() {
        Arrivals::Recorded { file, .. } => {
            assert_eq!(file, "recordings/shop.txt");
            let times = text("recordings/shop.txt").lines().skip(1);
            let times: Vec<u64> = times.map(|line| line.replace('.', "").parse().unwrap()).collect();
            let plan = ArrivalPlan::Recorded {
                file,
                count: times.len() as u64,
                span_ns: 0,
                speed: 1.0,
                after: RecordingEnd::Stop,
            };
            (plan, None, Some(times.into()))
        }
        Arrivals::Poisson {} => (ArrivalPlan::Poisson, Some(shape_plan(&model.stretches)), None),
        other => panic!("{other:?}"),
    };
    let rate = PerSecond(model.rate_per_s());
    let mut schedule = Schedule::new(&plan, rate, shape.as_ref(), recorded, Seed(77), Share::WHOLE).unwrap();
    let mut times = Vec::new();
    while schedule.peek().0 < model.span_s * 1_000_000_000 {
        times.push(schedule.advance().0);
    }
    times
}

/// Mix within 1 %, rate per minute within 2 %, dispersion within 20 %.
fn check_reproduced(lines: &[Line], model: &Model, written: &Written, scales_ns: &[u64]) {
    let scenario = written.files.iter().find(|file| file.path.ends_with("shop.toml")).unwrap();
    let scenario = parse_toml::<ScenarioFile>("s.toml", &scenario.text).unwrap();
    let all: f64 = scenario.requests.iter().map(|request| request.weight.unwrap()).sum();
    assert_eq!(all, lines.len() as f64);
    for (method, route, _) in MIX {
        let prefix = route.split('{').next().unwrap();
        let is_it = |line: &&Line| {
            line.method == method
                && if prefix == "/" { line.target == "/" } else { line.target.starts_with(prefix) }
        };
        let truth = lines.iter().filter(is_it).count() as f64 / all;
        let name = match route {
            "/users/{id}" => "get-users-id",
            "/" => "get-root",
            "/img/{id}.png" => "get-img-id-png",
            _ => "post-orders",
        };
        let request = scenario.requests.iter().find(|request| request.name == name).expect(name);
        assert_eq!(request.method.as_deref(), Some(method));
        assert!((request.weight.unwrap() / all - truth).abs() < 0.01 * truth, "{name}");
    }
    let span_ns = model.span_s * 1_000_000_000;
    let truth: Vec<u64> = lines.iter().map(|line| line.at_ns).collect();
    let sent = sent(model, written);
    let whole = (model.span_s / 60) as usize;
    let (wanted, got) = (minutes(truth.iter().copied(), whole), minutes(sent.iter().copied(), whole));
    for (minute, (wanted, got)) in wanted.iter().zip(&got).enumerate() {
        assert!((got / wanted - 1.0).abs() <= 0.02, "minute {minute}: {got} for {wanted}");
    }
    for scale_ns in scales_ns {
        let (wanted, got) = (dispersion(&truth, *scale_ns, span_ns), dispersion(&sent, *scale_ns, span_ns));
        assert!((got / wanted - 1.0).abs() <= 0.2, "{scale_ns} ns: {got} for {wanted}");
    }
}

/// Two rates that take turns: laws of gaps miss the dispersion by 60 % and more, MMPP(2) has it within 20 % at 0.1, 1 and
/// 10 s, in several logs of an hour; one of a single rate keeps its law.
#[test]
fn bursts_are_fitted_by_a_process_of_two_rates() {
    for seed in [5, 6, 7] {
        let model = modelled(&made::json(&made::bursty(3600.0, Seed(seed))));
        let verdict = judge(&model, Seed(1));
        let url = "http://127.0.0.1:8080";
        let written = traffic::write::files(&model, &verdict, Advice::Fitted, "b", url, Seed(1)).unwrap();
        assert!(written.files.iter().any(|file| file.text.contains("arrivals = \"mmpp:high=")));
        println!("{verdict}\n{:?}", verdict.scales);
        let Some(Arrivals::Mmpp { high, low, high_for, low_for }) = verdict.arrivals else {
            panic!("{verdict}")
        };
        let ratio = high.0 / low.unwrap().0;
        assert!((10.0..22.0).contains(&ratio), "{ratio}");
        assert!(
            (1.3..3.0).contains(&(high_for.0 as f64 / 1e9))
                && (5.0..12.0).contains(&(low_for.0 as f64 / 1e9))
        );
        let fine = verdict.scales.iter().filter(|scale| scale.scale_ns <= 10_000_000_000);
        assert!(
            fine.clone().count() == 3 && fine.clone().all(|scale| scale.off() <= 0.2),
            "{:?}",
            verdict.scales
        );
    }
    let flat = judge(&modelled(&made::json(&made::poisson(3600.0, 40.0, |_| 40.0, Seed(3)))), Seed(1));
    assert!(!matches!(flat.arrivals, Some(Arrivals::Mmpp { .. })), "{flat}");
}

#[test]
fn a_bursty_log_is_reproduced_by_its_recorded_times() {
    let lines = made::bursty(1800.0, Seed(5));
    for (text, scales) in [
        (made::combined(&lines), &[1_000_000_000, 10_000_000_000, 100_000_000_000][..]),
        (made::json(&lines), &[100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000][..]),
    ] {
        let model = modelled(&text);
        let truth: Vec<u64> = lines.iter().map(|line| line.at_ns).collect();
        for found in model.dispersion.iter().filter_map(|d| d.index.map(|index| (d.scale_ns, index))) {
            let wanted = dispersion(&truth, found.0, model.span_s * 1_000_000_000);
            assert!((found.1 / wanted - 1.0).abs() < 0.02, "{found:?} for {wanted}");
        }
        assert_eq!(model.dispersion[0].index.is_some(), scales.len() == 4);
        let verdict = judge(&model, Seed(1));
        assert_eq!(verdict.advice, Advice::Recorded, "{verdict}");
        check_reproduced(&lines, &model, &written(&model, &verdict), scales);
        // The fault: a fitted process does not reproduce it, and the check sees that.
        let forced = Verdict { arrivals: Some(Arrivals::Poisson {}), ..verdict };
        let fitted = files(&model, &forced, Advice::Fitted, "shop", "http://h", Seed(1)).unwrap();
        let sent = sent(&model, &fitted);
        let off = dispersion(&sent, 1_000_000_000, 1_800_000_000_000)
            / dispersion(&truth, 1_000_000_000, 1_800_000_000_000);
        assert!(off < 0.8, "{off}");
    }
}

#[test]
fn a_busy_poisson_log_is_reproduced_by_a_fitted_process() {
    // Busy minutes, so that chance moves none by 2 %: 90,000 requests each, of which 1 % are three standard deviations.
    let lines = made::poisson(240.0, 1500.0, |at_s| if at_s < 120.0 { 1500.0 } else { 1200.0 }, Seed(3));
    let model = modelled(&made::json(&lines));
    assert_eq!(model.stretches.len(), 2, "{:?}", model.stretches);
    let verdict = judge(&model, Seed(1));
    let poisson = model.gaps.families.iter().find(|family| family.family == Family::Exponential).unwrap();
    assert_eq!(model.gaps.data, GapData::Counts);
    assert!(poisson.goodness.unwrap().p > 0.01, "{poisson:?}");
    assert!(
        verdict.scales.iter().filter(|scale| scale.scale_ns < 10_000_000_000).all(|scale| scale.off() < 0.2)
    );
    let forced = Verdict { arrivals: Some(Arrivals::Poisson {}), ..verdict };
    let fitted = files(&model, &forced, Advice::Fitted, "shop", "http://h", Seed(1)).unwrap();
    check_reproduced(&lines, &model, &fitted, &[100_000_000, 1_000_000_000]);
}

#[test]
fn the_model_holds_the_truth_of_a_log_with_a_changing_rate() {
    let rate = |at_s: f64| 2.0 + 1.5 * (at_s / 14_400.0 * std::f64::consts::TAU).sin();
    let lines = made::poisson(14_400.0, 3.5, rate, Seed(9));
    let model = modelled(&made::json(&lines));
    assert_eq!((model.requests, model.resolution_ns), (lines.len() as u64, 1_000_000));
    for (method, path, share) in MIX {
        let route =
            model.routes.iter().find(|route| route.method == method && route.path == path).expect(path);
        assert!((route.share - share).abs() < 0.01, "{path}: {}", route.share);
        assert_eq!(route.bytes_mean, Some(512.0));
    }
    let image = model.routes.iter().find(|route| route.path == "/img/{id}.png").unwrap();
    let missing = image.status.iter().find(|(code, _)| *code == 404).unwrap().1 as f64 / image.count as f64;
    assert!((missing - 0.1).abs() < 0.02, "{missing}");
    let concurrency = model.concurrency.unwrap();
    assert!((concurrency - model.rate_per_s() * 0.02).abs() < 1e-9, "{concurrency}");
    assert!(model.stretches.len() > 4 && model.stretches.len() < 60, "{}", model.stretches.len());
    // With the rate taken out, the gaps are a Poisson process's; with whole seconds, only their counts are left.
    assert_poisson(&model, GapData::Exact);
    assert_poisson(&modelled(&made::combined(&lines)), GapData::Counts);
    assert_eq!(model.sessions.iter().map(|s| s.gap_min).collect::<Vec<_>>(), [10, 30, 60]);
    assert!(model.sessions[0].count >= model.sessions[1].count && model.sessions[1].count >= 300);
}

fn assert_poisson(model: &Model, data: GapData) {
    assert_eq!(model.gaps.data, data);
    let fits = &model.gaps.families;
    let poisson = fits.iter().find(|family| family.family == Family::Exponential).unwrap();
    assert!(poisson.goodness.unwrap().p > 0.01, "{fits:?}");
    let best = model.gaps.best().unwrap();
    assert!((best.law.cv() - 1.0).abs() < 0.1, "{fits:?}");
}

#[test]
fn gaps_of_some_seconds_are_fitted_as_intervals() {
    let lines = made::poisson(7200.0, 0.3, |_| 0.3, Seed(6));
    assert_poisson(&modelled(&made::combined(&lines)), GapData::Intervals);
}

#[test]
fn what_is_written_is_safe_and_complete() {
    let mut lines = made::poisson(300.0, 20.0, |_| 20.0, Seed(4));
    for (index, line) in lines.iter_mut().enumerate() {
        match index % 4 {
            0 => line.target = "/a${env(\\\"HOME\\\")}".to_owned(),
            1 => line.target = format!("/rare-{index}-x/{index}y"),
            _ => {}
        }
    }
    let model = modelled(&made::combined(&lines));
    assert!(model.other > 0 && model.routes.len() == 200);
    let verdict = judge(&model, Seed(1));
    let written = written(&model, &verdict);
    let folder = tempfile::tempdir().unwrap();
    write(&written, folder.path()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("scenarios/shop.toml")).unwrap();
    let scenario = parse_toml::<ScenarioFile>("shop.toml", &text).unwrap();
    assert!(scenario.requests.iter().any(|request| request.path.starts_with("/a$${env")), "{text}");
    assert!(scenario.requests.iter().any(|request| request.name == "other"));
    let sum: f64 = scenario.requests.iter().map(|request| request.weight.unwrap()).sum();
    assert_eq!(sum, lines.len() as f64);
    for feeder in scenario.feeders.values() {
        let rows = std::fs::read_to_string(folder.path().join("scenarios").join(&feeder.file)).unwrap();
        assert!(
            rows.lines().count() > 1 && rows.lines().all(|row| row.starts_with('/') && !row.contains(' '))
        );
    }
    let images = scenario.requests.iter().find(|request| request.name == "get-img-id-png").unwrap();
    assert!(images.expect.status.contains(&schema::scenario::StatusItem::Code(404)));
    assert!(written.notes.iter().any(|note| note.contains("change data")), "{:?}", written.notes);
    let summary = traffic::summary::text(&model, &verdict, true);
    for part in ["mix", "sessions by client", "(used)", "lognormal", "dispersion", "whole seconds", "verdict"]
    {
        assert!(summary.contains(part), "{part} in\n{summary}");
    }
    assert!(serde_json::to_value(&model).unwrap()["schema"] == "prony.model/1");
}

#[test]
fn logs_without_time_or_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lines = made::poisson(0.9, 9.0, |_| 9.0, Seed(4));
    let path = made::write(folder.path(), "one-second.log", &made::combined(&lines));
    let error = model(&[path], None, Seed(1)).unwrap_err().to_string();
    assert!(error.contains("all in one moment") && error.contains("remedy"), "{error}");
}
