//! `prony run` from the file to the report: the run folder as DESIGN says it, verdicts, exit codes, resumption.

use crate::command::{Server, bad, done, good, measured, turn};
use crate::load::{check_report, check_schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An experiment of two reference targets with the given means, its claim, and a folder for its runs.
pub(crate) struct Lab {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) file: PathBuf,
    _turn: std::sync::MutexGuard<'static, ()>,
}

impl Lab {
    pub(crate) fn new(targets: &str, claim: &str, design: &str) -> Self {
        let turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab.toml");
        let text = format!(
            "[experiment]\nname = \"lab\"\n{design}\n{targets}\n[scenario]\nrequest = {{ path = \"/ping\" }}\n\
             expect = {{ status = [200], json = '{{\"data\": {{}}, \"code\": 0, \"msg\": \"ok\"}}' }}\n\
             [load]\nmodel = \"closed\"\nconnections = 4\n\
             [phases]\nwarmup = {{ at_least = \"200ms\", at_most = \"200ms\" }}\nsample = \"400ms\"\nsamples = 1\n{claim}"
        );
        std::fs::write(&file, text).unwrap();
        Self { folder, file, _turn: turn }
    }

    pub(crate) fn args(&self) -> [&str; 4] {
        ["run", self.file.to_str().unwrap(), "--runs", self.folder.path().to_str().unwrap()]
    }

    /// The one run folder that there is.
    pub(crate) fn run(&self) -> PathBuf {
        let is_run = |path: &PathBuf| path.join("trials").is_dir();
        let mut found =
            std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).filter(is_run);
        let run = found.next().expect("there is a run folder");
        assert!(found.next().is_none(), "there is one run folder");
        run
    }
}

pub(crate) const TWO: &str = "[[target]]\nname = \"one\"\nreference = { law = \"exponential\", mean = \"1ms\" }\n\
                              [[target]]\nname = \"two\"\nreference = { law = \"exponential\", mean = \"2ms\" }";

fn claim(ratio: &str) -> String {
    format!(
        "[[claim]]\ntext = \"one is faster\"\nmetric = \"throughput\"\nbetter = \"one\"\nthan = \"two\"\nratio = \"{ratio}\"\n"
    )
}

pub(crate) fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_warm_up_until_steady_says_how_it_ended_and_the_window_has_a_class() {
    let one = "[[target]]\nname = \"one\"\nreference = { law = \"constant\", mean = \"1ms\" }";
    let lab = Lab::new(one, "", "blocks = 1");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    let fixed = "warmup = { at_least = \"200ms\", at_most = \"200ms\" }\nsample = \"400ms\"\nsamples = 1";
    assert!(text.contains(fixed), "{text}");
    // Intervals of 100 ms; the CPU time of six seconds must have been seen, whatever it was.
    let live = "warmup = { at_least = \"300ms\", at_most = \"20s\", cpu_within = 1.0 }\nsample = \"100ms\"\nsamples = 12";
    std::fs::write(&lab.file, text.replace(fixed, live)).unwrap();
    let done = measured(&lab.args());
    let run = lab.run();
    let trial = read(&run.join("trials/0001/trial.json"));
    let waiting = trial["warmup"]["waiting_for"].as_array().cloned().unwrap_or_default();
    // A busy machine may not be steady for 20 s; then the trial says what moved.
    let by = trial["warmup"]["by"].as_str().unwrap();
    assert!(matches!((by, waiting.len()), ("steady", 0) | ("at_most", 1..)), "{}", trial["warmup"]);
    assert_eq!(trial["level"], by == "steady");
    let cpu_seen = waiting.iter().all(|text| !text["text"].as_str().unwrap().contains("CPU"));
    assert!(cpu_seen, "its CPU time was read beside the load: {waiting:?}");
    let warm = trial["phases"].as_array().unwrap().iter().find(|span| span["phase"] == "warmup").unwrap();
    assert!(warm["end_ns"].as_u64().unwrap() >= 6_000_000_000, "six seconds were waited for: {warm}");
    let found = &trial["steadiness"];
    assert_eq!((found["intervals"].as_u64(), found["class"].is_string()), (Some(12), true), "{found}");
    let names: Vec<_> = found["series"].as_array().unwrap().iter().map(|series| &series["series"]).collect();
    assert!(
        names.iter().any(|name| *name == "p50") && names.iter().any(|name| *name == "throughput"),
        "{names:?}"
    );
    let analysis = read(&run.join("analysis.json"));
    assert_eq!(analysis["trials"][0]["steadiness"], *found);
    // A trial that the hypervisor made void is not drawn.
    if trial["outcome"] == "valid" {
        assert_eq!(analysis["cells"][0]["warm_up"]["trial"], 1);
        assert!(done.out.contains("\u{2502}") && done.out.contains("Warm-up"), "{}", done.out);
    }
}

#[test]
fn a_known_difference_is_found_and_the_folder_is_as_designed() {
    let lab = Lab::new(TWO, &claim(">= 1.5"), "blocks = 7");
    let done = measured(&lab.args());
    assert!(done.out.contains("Can these numbers be believed?"), "{}", done.out);
    let run = lab.run();
    // A busy machine makes trials void, which are run again.
    let trials = order(&run).len();
    assert!((14..=17).contains(&trials), "{trials}");
    check_folder(&run, trials);
    let analysis = read(&run.join("analysis.json"));
    let throughput =
        analysis["comparisons"].as_array().unwrap().iter().find(|c| c["metric"] == "throughput").unwrap();
    if let Some(ratio) = throughput["ratio"].as_f64() {
        assert!((1.5..2.5).contains(&ratio), "one server of 1 ms against 2 ms: {ratio}");
    }
    // A busy machine may void too many trials, and trials that agree to the last request have no spread: then, and
    // only then, the answer is a refusal.
    if throughput["verdict"] == "refused" {
        let why = throughput["refused"]["text"].as_str().unwrap();
        assert!(throughput["blocks"].as_u64() < Some(5) || why.contains("same"), "{why}");
    } else {
        assert_eq!([&throughput["verdict"], &analysis["claims"][0]["verdict"]], ["faster", "holds"]);
    }
    // A report is a function of the folder.
    let before = std::fs::read(run.join("analysis.json")).unwrap();
    good(&["report", run.to_str().unwrap()]);
    assert!(
        before == std::fs::read(run.join("analysis.json")).unwrap(),
        "the same folder gives the same analysis"
    );
    for (format, mark) in
        [("json", "prony.analysis/3"), ("csv", "throughput"), ("markdown", "# "), ("html-plain", "<svg")]
    {
        assert!(good(&["report", run.to_str().unwrap(), "--format", format]).out.contains(mark), "{format}");
    }
    crate::page::check(&run, trials);
}

/// Every file is there, keeps its schema, and the accounts balance.
fn check_folder(run: &Path, trials: usize) {
    let file = read(&run.join("run.json"));
    check_schema("run", &file);
    assert!(!file["environment"]["facts"].as_array().unwrap().is_empty());
    assert!(file["instrument"]["wake_late_p99_ns"].as_u64().unwrap() > 0);
    check_schema("analysis", &read(&run.join("analysis.json")));
    for name in ["report.md", "report.html", "results.csv"] {
        assert!(run.join(name).metadata().unwrap().len() > 500, "{name}");
    }
    let folders: Vec<_> =
        std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), trials);
    for folder in folders {
        let trial = read(&folder.join("trial.json"));
        check_schema("trial", &trial);
        check_report(&trial["load"]);
        let intervals = lines(&folder.join("intervals.ndjson"));
        assert!(intervals.len() >= 2);
        intervals.iter().for_each(|line| check_schema("interval", line));
        let counters = lines(&folder.join("counters.ndjson"));
        counters.iter().for_each(|line| check_schema("counter", line));
        for source in ["host.stat", "tcp.snmp", "target.process", "generator.process"] {
            assert!(
                counters.iter().any(|line| line["source"] == source),
                "no {source} in {}",
                folder.display()
            );
        }
        let log = std::fs::read_to_string(folder.join("latency.hlog")).unwrap();
        for tag in ["response", "service", "send_lag", "pacer_lag", "connect"] {
            assert!(log.contains(&format!("Tag={tag},")), "no {tag} in {}", folder.display());
        }
        assert!(folder.join("target.log").is_file());
        assert!(trial["target"]["rss_peak_bytes"].as_u64().unwrap() > 0);
        assert!(trial["ready_ns"].as_u64().unwrap() > 0);
    }
}

fn order(run: &Path) -> Vec<Value> {
    read(&run.join("run.json"))["plan"]["order"].as_array().unwrap().clone()
}

/// As if none but the first `planned` trials had been run.
fn forget_reruns(run: &Path, planned: usize) {
    let mut file = read(&run.join("run.json"));
    let order = file["plan"]["order"].as_array_mut().unwrap();
    for again in order.drain(planned..) {
        std::fs::remove_dir_all(run.join(format!("trials/{:04}", again["id"].as_u64().unwrap()))).unwrap();
    }
    std::fs::write(run.join("run.json"), file.to_string()).unwrap();
}

#[test]
fn a_void_trial_is_run_again_and_blocks_are_added_when_a_run_goes_on() {
    let lab = Lab::new(TWO, "", "blocks = 2");
    measured(&lab.args());
    let run = lab.run();
    let folder = run.to_str().unwrap();
    // What this host made void besides is not what is tested.
    forget_reruns(&run, 4);
    write_known_throughputs(&run);
    let path = run.join("trials/0001/trial.json");
    let mut first = read(&path);
    first["outcome"] = "void".into();
    std::fs::write(&path, first.to_string()).unwrap();
    let before = order(&run);
    measured(&["run", "--resume", folder]);
    let after = order(&run);
    let again = &after[before.len()];
    assert_eq!((&again["block"], &again["cell"]), (&before[0]["block"], &before[0]["cell"]));
    let id = again["id"].as_u64().unwrap();
    assert!(before.iter().all(|planned| planned["id"] != again["id"]));
    assert_eq!(read(&run.join(format!("trials/{id:04}/trial.json")))["block"], again["block"]);
    assert_eq!(read(&path)["outcome"], "void", "the void trial is kept");
    // Blocks that are added are whole, and run.
    write_known_throughputs(&run);
    let before = order(&run).len();
    measured(&["run", "--resume", folder, "--blocks", "+1"]);
    let added = order(&run)[before..].to_vec();
    assert!(added[..2].iter().all(|planned| planned["block"] == 3), "{added:?}");
    assert!(added.len() >= 2 && run.join(format!("trials/{:04}", added[1]["id"].as_u64().unwrap())).is_dir());
    bad(&["run", "--resume", folder, "--blocks", "1"], 1, &["write +1 for one more"]);
}

#[test]
fn a_claim_that_does_not_hold_gives_exit_code_3() {
    let lab = Lab::new(TWO, &claim("<= 1.1"), "blocks = 5");
    done(&lab.args());
    let run = lab.run();
    write_known_throughputs(&run);
    let report = done(&["report", run.to_str().unwrap()]);
    assert_eq!(read(&run.join("analysis.json"))["claims"][0]["verdict"], "does_not_hold", "{}", report.out);
    assert_eq!(report.code, 3, "{}\n{}", report.out, report.err);
    assert!(report.out.contains("does not hold"), "{}", report.out);
    // No trial is missing, so to resume is only to answer.
    let resumed = done(&["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(resumed.code, 3, "{}\n{}", resumed.out, resumed.err);
}

/// Claims and thresholds on counters: of threads, which every target has, and of one that no target has.
const COUNTED: &str = r#"
[counters]
tick = "100ms"
[[claim]]
text = "one has a thread"
metric = { counter = "target.process/threads" }
of = "one"
is = ">= 1"
[[claim]]
text = "its threads are counted"
metric = { counter = "target.process/threds" }
of = "one"
is = ">= 1"
[[threshold]]
text = "its memory stays small"
metric = { counter = "target.process/rss_bytes" }
of = "one"
is = "< 64GiB"
[[threshold]]
text = "it needs no thread"
metric = { counter = "target.process/threads" }
is = "< 1"
"#;

#[test]
fn counters_decide_claims_and_thresholds() {
    let lab = Lab::new(TWO, COUNTED, "blocks = 5");
    done(&lab.args());
    let run = lab.run();
    write_known_throughputs(&run);
    let report = done(&["report", run.to_str().unwrap()]);
    let analysis = read(&run.join("analysis.json"));
    check_schema("analysis", &analysis);
    let claims = &analysis["claims"];
    assert_eq!(claims[0]["metric"]["counter"], "target.process/threads", "{claims:#}");
    assert!(claims[0]["value"].as_f64().is_some_and(|threads| threads >= 1.0), "{claims:#}");
    assert_eq!(claims[1]["verdict"], "void", "{claims:#}");
    let evidence = claims[1]["evidence"]["text"].as_str().unwrap();
    assert!(evidence.contains("did you mean target.process/threads?"), "{evidence}");
    let verdicts = [0, 1].map(|place| analysis["thresholds"][place]["verdict"].clone());
    assert_eq!(verdicts, ["kept", "crossed"], "{:#}", analysis["thresholds"]);
    assert_eq!(report.code, 3, "{}\n{}", report.out, report.err);
    assert!(report.out.contains("Thresholds") && report.out.contains("it needs no thread"), "{}", report.out);
    for (format, mark) in [("markdown", "## Thresholds"), ("html-plain", "id=\"thresholds\"")] {
        let printed = done(&["report", run.to_str().unwrap(), "--format", format]);
        assert!(printed.out.contains(mark) && printed.out.contains("crossed it in"), "{format}");
    }
}

/// One claim of each kind about targets of 1,000 and 500 answers a second without errors.
const EVERY_KIND: &str = r#"
[[claim]]
text = "one takes 900/s & more"
metric = "throughput"
of = "one"
is = "> 900"
[[claim]]
text = "two is as fast as one, \"nearly\""
metric = "throughput"
no_worse = "two"
than = "one"
margin = 0.1
[[claim]]
text = "one is ahead by 400/s"
metric = "throughput"
better = "one"
than = "two"
difference = ">= 400"
[[claim]]
text = "one before two"
metric = "throughput"
order = ["one", "two"]
[[claim]]
text = "errors are alike"
metric = "error_rate"
equivalent = ["one", "two"]
margin = "0.1%"
[[claim]]
text = "p99.9 is known"
metric = "p999"
better = "one"
than = "two"
ratio = "< 1"
"#;

#[test]
fn claims_of_every_kind_are_answered_and_written_for_ci() {
    // Six claims share what may go wrong: that errors are alike takes eight blocks without a difference.
    let lab = Lab::new(TWO, EVERY_KIND, "blocks = 8");
    let junit = lab.folder.path().join("claims.xml");
    let with_junit = ["--junit", junit.to_str().unwrap()];
    done(&[&lab.args()[..], &with_junit[..]].concat());
    assert!(std::fs::read_to_string(&junit).unwrap().contains("tests=\"6\""));
    let run = lab.run();
    write_known_throughputs(&run);
    let report = done(&[&["report", run.to_str().unwrap()][..], &with_junit[..]].concat());
    let analysis = read(&run.join("analysis.json"));
    let answers: Vec<(&str, &str)> = analysis["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| (claim["kind"].as_str().unwrap(), claim["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        answers,
        [
            ("threshold", "holds"),
            ("no_worse", "does_not_hold"),
            ("difference", "holds"),
            ("ordering", "holds"),
            ("equivalent", "holds"),
            ("ratio", "inconclusive"),
        ],
        "{}",
        report.out
    );
    assert_eq!(report.code, 3, "{}\n{}", report.out, report.err);
    let xml = std::fs::read_to_string(&junit).unwrap();
    for part in [
        "failures=\"1\"",
        "skipped=\"1\"",
        "errors=\"0\"",
        "name=\"one takes 900/s &amp; more\"",
        "name=\"two is as fast as one, &quot;nearly&quot;\"",
        "<failure message=\"does not hold: ratio of requests per second 0.",
    ] {
        assert!(xml.contains(part), "{part} in {xml}");
    }
}

#[test]
fn a_junit_file_in_no_folder_is_told_before_the_run() {
    let lab = Lab::new(TWO, EVERY_KIND, "blocks = 5");
    let file = lab.folder.path().join("none/claims.xml");
    let args = [&lab.args()[..], &["--junit", file.to_str().unwrap()]].concat();
    bad(&args, 1, &["there is no folder", "remedy"]);
    assert_eq!(std::fs::read_dir(lab.folder.path()).unwrap().count(), 1, "no run folder was made");
}

/// What a busy machine measured is replaced by what two such servers would give: about 1,000/s and 500/s.
fn write_known_throughputs(run: &Path) {
    let plan = read(&run.join("run.json"))["plan"].clone();
    for planned in plan["order"].as_array().unwrap() {
        let path = run.join(format!("trials/{:04}/trial.json", planned["id"].as_u64().unwrap()));
        let mut trial = read(&path);
        let cell =
            plan["cells"].as_array().unwrap().iter().find(|cell| cell["id"] == planned["cell"]).unwrap();
        let per_s = if cell["target"] == "one" { 1_000.0 } else { 500.0 };
        let block = planned["block"].as_f64().unwrap();
        let noise = if cell["target"] == "one" { (block * 7.0) % 5.0 } else { (block * 3.0) % 4.0 };
        trial["load"]["throughput_per_s"] = (per_s + noise).into();
        trial["outcome"] = "valid".into();
        trial["reasons"] = Value::Array(Vec::new());
        std::fs::write(&path, trial.to_string()).unwrap();
    }
}

#[test]
fn few_trials_give_values_and_no_interval() {
    let lab = Lab::new(TWO, &claim(">= 1.5"), "blocks = 1");
    // On a host whose hypervisor steals CPU time the trials are void, too: the refusal is the same.
    let done = done(&lab.args());
    assert!([0, 2].contains(&done.code) && done.out.contains(" more blocks"), "{}\n{}", done.out, done.err);
    let analysis = read(&lab.run().join("analysis.json"));
    for comparison in analysis["comparisons"].as_array().unwrap() {
        assert_eq!(comparison["verdict"], "refused");
        assert!(comparison["interval"].is_null());
    }
    assert_eq!(analysis["claims"][0]["verdict"], "void");
}

#[test]
fn a_target_that_breaks_its_contract_never_sees_load() {
    let lab = Lab::new("[[target]]\nname = \"broken\"\nreference = { error_rate = 1.0 }", "", "blocks = 1");
    bad(&lab.args(), 2, &["broken", "500", "remedy"]);
    let left = std::fs::read_dir(lab.folder.path()).unwrap().count();
    assert_eq!(left, 1, "no run folder was made");
}

#[test]
fn a_target_that_does_not_start_shows_the_end_of_its_log() {
    let command =
        "[[target]]\nname = \"dies\"\ncommand = [\"sh\", \"-c\", \"echo the disk is full {port}; exit 7\"]";
    bad(&Lab::new(command, "", "blocks = 1").args(), 2, &["the disk is full", "7"]);
    let command = "[[target]]\nname = \"none\"\ncommand = [\"/no/such/program\", \"{port}\"]";
    bad(&Lab::new(command, "", "blocks = 1").args(), 2, &["/no/such/program"]);
}

#[test]
fn a_server_that_already_runs_is_measured_and_left_alone() {
    let server = Server::start(&["--mean", "1ms"]);
    let lab = Lab::new(&format!("[[target]]\nurl = \"{}\"", server.url("")), "", "blocks = 2");
    measured(&lab.args());
    let trial = read(&lab.run().join("trials/0002/trial.json"));
    assert!(trial["load"]["requests"]["completed"].as_u64().unwrap() > 0);
    assert!(trial["target"]["cpu_s"].is_null(), "no data is absent, not zero");
    assert!(std::net::TcpStream::connect(server.addr).is_ok(), "it still runs");
}

#[test]
fn an_open_load_runs_at_its_rate() {
    let lab = Lab::new("[[target]]\nreference = {}", "", "blocks = 1");
    let text = std::fs::read_to_string(&lab.file).unwrap();
    std::fs::write(
        &lab.file,
        text.replace("model = \"closed\"", "model = \"open\"\nrate = [200, 400]\narrivals = \"constant\""),
    )
    .unwrap();
    // On a busy machine a trial may be void; its counts are exact all the same.
    assert!([0, 2].contains(&done(&lab.args()).code));
    let mut scheduled: Vec<u64> = (1..=2)
        .map(|id| {
            read(&lab.run().join(format!("trials/000{id}/trial.json")))["load"]["requests"]["scheduled"]
                .as_u64()
                .unwrap()
        })
        .collect();
    scheduled.sort_unstable();
    assert_eq!(scheduled, [80, 160], "400 ms at 200/s and at 400/s");
}
