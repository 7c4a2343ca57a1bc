//! Traces of a load: ids that follow from seed and number, however many processes make the load; lists that agree with the
//! intervals; refusals.

use crate::command::{Server, bad, done, good};
use crate::load::{check_report, check_schema};
use schema::load::LoadReport;
use schema::traced::{NotableRequest, TraceIds};
use schema::trial::{IntervalLine, Phase, TrialFile};
use serde_json::Value;
use std::path::Path;
use units::Tracing;

/// A load of the built-in target, and its intervals.
fn load(server: &Server, folder: &Path, more: &[&str]) -> (LoadReport, Vec<IntervalLine>) {
    let (url, series) = (server.url("/ping"), folder.join("series.ndjson"));
    let own =
        ["load", &url, "-c", "8", "-n", "4k", "--format", "json", "--timeseries", series.to_str().unwrap()];
    let ended = done(&[&own[..], more].concat());
    let report: Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    check_report(&report);
    let lines = std::fs::read_to_string(series).unwrap();
    let line = |line: &str| {
        check_schema("interval", &serde_json::from_str(line).unwrap());
        serde_json::from_str(line).unwrap()
    };
    (serde_json::from_value(report).unwrap(), lines.lines().map(line).collect())
}

/// The list of a whole load is what its intervals have of it.
fn check_lists(report: &LoadReport, lines: &[IntervalLine]) {
    let of = &report.notable;
    let merged = |list: fn(&IntervalLine) -> &Vec<NotableRequest>| {
        let mut all: Vec<NotableRequest> = lines.iter().flat_map(list).cloned().collect();
        all.sort_by_key(|one| (u64::MAX - one.response_ns, one.request));
        all.truncate(8);
        all
    };
    assert_eq!(of.slowest, merged(|line| &line.notable.slowest));
    assert_eq!(of.slowest_sampled, merged(|line| &line.notable.slowest_sampled));
    let longest = report.latency_ns.response.max.unwrap();
    assert!(longest.abs_diff(of.slowest[0].response_ns) * 500 <= longest, "{longest}: {of:?}");
}

#[test]
fn ids_follow_from_seed_and_number_whatever_makes_the_load() {
    let folder = tempfile::tempdir().unwrap();
    for more in [&["-t", "1"][..], &["-t", "4", "--driver", "epoll"], &["--processes", "2", "--http", "2"]] {
        let server = Server::start(&[]);
        let traced = [more, &["--trace-sample", "10%", "--seed", "7"]].concat();
        let (report, lines) = load(&server, folder.path(), &traced);
        let plan = report.plan.load.trace.expect("the plan says it");
        assert_eq!((plan.share, plan.seed), (0.1, 7));
        let of = &report.notable;
        assert_eq!((of.slowest.len(), of.slowest_sampled.len()), (8, 8), "{more:?}");
        for one in of.slowest.iter().chain(&of.slowest_sampled) {
            assert_eq!(one.trace, Some(TraceIds::of(Tracing::new(7, 0.1), one.request)));
            assert!(one.request < 4_000 && one.wait_ns.is_some() && one.status == Some(200), "{one:?}");
        }
        assert!(of.slowest_sampled.iter().all(|one| one.trace.as_ref().unwrap().sampled));
        assert!(lines.iter().all(|line| line.origin_unix_ns == lines[0].origin_unix_ns));
        assert!(lines[0].origin_unix_ns.is_some());
        check_lists(&report, &lines);
    }
}

#[test]
fn without_traces_the_lists_have_numbers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[]);
    let (report, lines) = load(&server, folder.path(), &["-t", "2"]);
    assert!(report.plan.load.trace.is_none() && lines[0].origin_unix_ns.is_none());
    assert!(report.notable.slowest.iter().all(|one| one.trace.is_none()));
    assert!(report.notable.slowest_sampled.is_empty());
    check_lists(&report, &lines);
}

#[test]
fn the_text_lists_the_slowest_with_traces_only() {
    let server = Server::start(&[]);
    let url = server.url("/ping");
    let load = ["load", &url, "-c", "2", "-n", "200"];
    let traced = good(&[&load[..], &["--trace-sample", "1"]].concat()).out;
    let first = format!("{:032x}", Tracing::new(plan::defaults::SEED, 1.0).context(0).trace_id);
    assert!(traced.contains("slowest requests") && traced.contains("trace id"), "{traced}");
    assert!(!traced.contains("slowest sampled requests"), "all are sampled: {traced}");
    assert_eq!(first.len(), 32);
    assert!(!good(&load).out.contains("slowest requests"));
}

#[test]
fn a_header_of_the_users_own_a_script_and_shares_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("get.lua");
    std::fs::write(&script, "wrk.method = 'GET'").unwrap();
    let experiment = folder.path().join("own.toml");
    let text = "[experiment]\nname = \"own\"\n[[target]]\nname = \"r\"\nreference = { law = \"constant\", mean = \"1ms\" }\n\
        [scenario]\nrequest = { path = \"/ping\", headers = { TraceParent = \"x\" } }\n[load]\nmodel = \"closed\"\ntrace = \"1%\"\n";
    std::fs::write(&experiment, text).unwrap();
    let url = "http://127.0.0.1:9/";
    let own = "a header traceparent, and the load would add its own";
    bad(
        &["load", url, "--trace-sample", "1%", "-H", "Traceparent: 00-x"],
        1,
        &["--trace-sample", own, "remedy:"],
    );
    bad(
        &["load", url, "--trace-sample", "1%", "-s", script.to_str().unwrap()],
        1,
        &["a script writes its own requests"],
    );
    bad(&["load", url, "--trace-sample", "101%"], 1, &["--trace-sample", "from 0 to 100%"]);
    bad(&["load", url, "--trace-sample", "few"], 1, &["is no share"]);
    bad(&["plan", experiment.to_str().unwrap()], 1, &["load.trace", own, "remedy:"]);
}

#[test]
fn trials_of_a_run_have_ids_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = traced_run(folder.path());
    let trials: Vec<TrialFile> = (1..=2)
        .map(|id| {
            let trial = Path::new(&run).join(format!("trials/{id:04}"));
            let lines = std::fs::read_to_string(trial.join("intervals.ndjson")).unwrap();
            let lines = lines.lines().map(|line| serde_json::from_str::<IntervalLine>(line).unwrap());
            let file: TrialFile =
                serde_json::from_str(&std::fs::read_to_string(trial.join("trial.json")).unwrap()).unwrap();
            let measured: Vec<_> = lines.filter(|line| line.phase != Some(Phase::Warmup)).collect();
            check_lists(file.load.as_ref().unwrap(), &measured);
            file
        })
        .collect();
    let seeds = trials.iter().map(|trial| trial.load.as_ref().unwrap().plan.load.trace.unwrap().seed);
    let seeds: Vec<u64> = seeds.collect();
    assert_ne!(seeds[0], seeds[1]);
    for (trial, seed) in trials.iter().zip(seeds) {
        let slowest = &trial.load.as_ref().unwrap().notable.slowest_sampled;
        assert!(!slowest.is_empty());
        let tracing = Tracing::new(seed, 0.5);
        assert!(slowest.iter().all(|one| one.trace == Some(TraceIds::of(tracing, one.request))));
    }
}

/// A run of two trials whose requests have traces.
pub(crate) fn traced_run(folder: &Path) -> String {
    let experiment = folder.join("traced.toml");
    let text = "[experiment]\nname = \"traced\"\nblocks = 2\n[[target]]\nname = \"one\"\n\
        reference = { law = \"constant\", mean = \"1ms\" }\n[scenario]\nrequest = { path = \"/ping\" }\n\
        [load]\nmodel = \"closed\"\nconnections = 2\ntrace = 0.5\n\
        [phases]\nwarmup = { at_least = \"100ms\", at_most = \"100ms\" }\nsample = \"1s\"\nsamples = 1\n";
    std::fs::write(&experiment, text).unwrap();
    let runs = folder.join("runs");
    // Too few blocks for a verdict, and on a busy host a void trial: its requests are there all the same.
    done(&["run", experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
    let run = std::fs::read_dir(&runs).unwrap().next().expect("a run").unwrap().path();
    run.to_str().unwrap().to_owned()
}
