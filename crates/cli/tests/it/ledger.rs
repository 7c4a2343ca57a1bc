//! `prony ledger`: every published claim is decided by something, every experiment can be planned, and a study of one's own
//! goes from the file over runs to its verdicts.

use crate::command::{Done, bad, done, good, prony, root, turn};
use crate::load::{check_schema, pid, wait_until};
use crate::processes::{children, is_gone};
use rustix::process::{Signal, kill_process};
use schema::ledger::{LedgerFile, LedgerVerdict};
use schema::metric::Metric;
use schema::profile::ProfileKind;
use schema::study::{ReasonCode, ShownKind, StudyFile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Stdio};

/// How many quantitative claims the five articles make.
const CLAIMS: u32 = 115;

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths
}

fn studies() -> Vec<StudyFile> {
    files("studies")
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("it can be read");
            StudyFile::from_toml(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"))
        })
        .collect()
}

/// The resolved plan of each experiment by its file's name.
fn plans() -> BTreeMap<String, Value> {
    let plan = |path: &std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let out = good(&["run", path.to_str().expect("UTF-8"), "--dry-run", "--format", "json"]).out;
        (name, serde_json::from_str(&out).expect("a plan"))
    };
    files("experiments").iter().map(plan).collect()
}

#[test]
fn every_published_claim_is_decided_by_an_experiment_an_audit_or_a_reason() {
    let (studies, plans) = (studies(), plans());
    let mut numbers: Vec<u32> = Vec::new();
    for study in &studies {
        for claim in &study.claim {
            numbers.push(claim.number);
            assert_ne!(claim.reason, Some(ReasonCode::NotYet), "claim {} waits for prony", claim.number);
            let Some(experiment) = &claim.experiment else { continue };
            let plan =
                plans.get(experiment).unwrap_or_else(|| panic!("claim {}: no {experiment}", claim.number));
            assert_eq!(plan["name"], experiment.as_str(), "the ledger finds runs by this name");
            for id in &claim.claims {
                let found = plan["claims"]
                    .as_array()
                    .expect("claims")
                    .iter()
                    .find(|claim| claim["id"] == id.as_str());
                let found = found.unwrap_or_else(|| panic!("{experiment} has no claim {id}"));
                let source = &found["published"]["source"]["article"];
                assert_eq!(source, study.article.as_str(), "{experiment}: {id}");
            }
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=CLAIMS).collect::<Vec<_>>());
    // A claim with a source that no study points to would never be seen.
    let asked: BTreeSet<&String> =
        studies.iter().flat_map(|study| &study.claim).flat_map(|claim| &claim.claims).collect();
    for (name, plan) in &plans {
        for claim in
            plan["claims"].as_array().expect("claims").iter().filter(|claim| !claim["published"].is_null())
        {
            let id = claim["id"].as_str().unwrap_or_default().to_owned();
            // One more than was published, beside the claims of its row.
            assert!(asked.contains(&id) || id == "004-103-log", "{name}: no study asks for `{id}`");
        }
    }
}

/// How many things the five articles use, and how many of them prony does at least.
const THINGS: usize = 189;
const REAL_LEAST: usize = 171;

#[test]
fn every_thing_of_the_articles_is_shown_by_something_that_is_there_or_has_a_reason() {
    let studies = studies();
    let mut wrong = Vec::new();
    for study in &studies {
        for thing in &study.thing {
            let absent = thing.shows.iter().filter(|shown| !is_there(shown));
            wrong.extend(absent.map(|shown| format!("{} {}: no {shown}", study.article, thing.text.en)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let things = || studies.iter().flat_map(|study| &study.thing);
    assert_eq!(things().count(), THINGS);
    let real = things().filter(|thing| thing.is_real()).count();
    assert!(real >= REAL_LEAST, "{real} of {THINGS}");
    let texts: BTreeSet<_> =
        studies.iter().flat_map(|s| s.thing.iter().map(|t| (&s.article, &t.text.en))).collect();
    assert_eq!(texts.len(), THINGS, "each thing once");
    for planted in [
        "experiment none",
        "knob php/fpm none",
        "target php/none",
        "command load --none",
        "command none --format",
        "key limits none",
        "rule none",
        "metric none",
        "profile none",
        "fact cpu.none",
        "file README.md no such words",
        "file none.md a",
    ] {
        assert!(!is_there(planted), "{planted}");
    }
}

fn is_there(shown: &str) -> bool {
    let (kind, name) = ShownKind::read(shown).expect("checked as it is read");
    let holds = |path: &str, text: &str| {
        std::fs::read_to_string(root().join(path)).is_ok_and(|found| found.contains(text))
    };
    let is_file = |path: String| root().join(path).is_file();
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    match kind {
        ShownKind::Experiment => is_file(format!("experiments/{name}.toml")),
        ShownKind::Scenario => is_file(format!("scenarios/{name}.toml")),
        ShownKind::Service => is_file(format!("services/{name}/service.toml")),
        ShownKind::Target => is_file(format!("targets/{name}/target.toml")),
        ShownKind::Knob => holds(&format!("targets/{first}/target.toml"), &format!("name = \"{rest}\"\n")),
        ShownKind::Command => holds(&format!("docs/commands/{first}.md"), rest.trim()),
        ShownKind::Key => holds_key(first, rest),
        ShownKind::Rule => is_file(format!("crates/analyze/src/run/why/rules/{name}.rs")),
        ShownKind::Metric => Metric::ALL.iter().chain(&Metric::ASKED).any(|metric| metric.key() == name),
        ShownKind::Profile => ProfileKind::KEYS.contains(&name),
        ShownKind::Fact => facts().contains(&format!("\"{name}\"")),
        ShownKind::File => holds(first, rest),
    }
}

/// Whether the guide lists a key in the part of that table.
fn holds_key(table: &str, key: &str) -> bool {
    let guide = std::fs::read_to_string(root().join("docs/guides/experiment-file.md")).expect("the guide");
    let part = guide.split("\n### ").find(|part| part.starts_with(&format!("`[{table}]`")));
    part.is_some_and(|part| part.contains(&format!("| `{key}`")))
}

/// The sources of the facts of `prony doctor`.
fn facts() -> String {
    let folder = root().join("crates/collect/src/doctor");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    entries
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default())
        .collect()
}

#[test]
fn every_experiment_says_its_study_its_minutes_and_what_two_cores_do_not_show() {
    let of_studies: BTreeSet<String> =
        studies().into_iter().flat_map(|study| study.claim).filter_map(|claim| claim.experiment).collect();
    for path in files("experiments") {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let head: String = text.lines().take_while(|line| line.starts_with('#')).collect();
        if of_studies.contains(&name) {
            assert!(head.contains("Study 00") && head.contains("minutes"), "{name}: {head}");
        }
    }
}

#[test]
fn the_ledger_without_runs_has_audits_and_reasons_in_every_format_and_language() {
    let none = tempfile::tempdir().expect("a folder");
    let runs = none.path().to_str().expect("UTF-8");
    let json = good(&["ledger", "--runs", runs, "--format", "json"]).out;
    check_schema("ledger", &serde_json::from_str(&json).expect("JSON"));
    let ledger: LedgerFile = serde_json::from_str(&json).expect("a ledger");
    let rows: Vec<_> = ledger.articles.iter().flat_map(|article| &article.rows).collect();
    let of = |number: u32| rows.iter().find(|row| row.number == number).expect("it is there");
    assert_eq!(rows.len(), CLAIMS as usize);
    assert_eq!(of(17).verdict, LedgerVerdict::Impossible, "printed second differences are wrong");
    assert_eq!(of(27).verdict, LedgerVerdict::Impossible, "98 ms at 1,237/s are not 1,000 connections");
    assert_eq!((of(98).verdict, of(98).reason), (LedgerVerdict::CannotTest, Some(ReasonCode::Hardware)));
    assert_eq!(of(100).verdict, LedgerVerdict::NotRun);
    assert_eq!(ledger.things as usize, THINGS);
    let shown = good(&["ledger", "--runs", runs]).out;
    assert!(shown.contains(&format!("{} of {THINGS} real", ledger.real)), "{shown}");
    for (language, words) in [
        ("en", "cannot be tested here"),
        ("zh", "此处无法检验"),
        ("en", "It also uses, and prony does not do:"),
        ("zh", "文章还用到而 prony 未实现的"),
    ] {
        for format in ["text", "markdown", "html", "csv"] {
            let shown = good(&["ledger", "--runs", runs, "--format", format, "--lang", language]).out;
            let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_of_things = words.starts_with("It also") || words.starts_with("文章还");
            assert!((format == "csv" && is_of_things) || plain.contains(words), "{language} {format}");
            assert!(!shown.contains("<script"), "{format}");
        }
    }
    let folder = none.path().join("pages");
    good(&["ledger", "--runs", runs, "--write", folder.to_str().expect("UTF-8")]);
    for name in [
        "ledger.json",
        "ledger.html",
        "ledger.zh.html",
        "ledger.md",
        "ledger.zh.md",
        "ledger.csv",
        "ledger.zh.csv",
    ] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let dry = good(&["ledger", "run", "--short", "--dry-run", "--budget", "10m", "--runs", runs]).out;
    assert!(dry.contains("leaves room for them") && dry.contains("experiments to run: "), "{dry}");
    bad(&["ledger", "--article", "03"], 1, &["there is no study of article 03", "did you mean `00"]);
    bad(&["ledger", "--studies", runs], 1, &["there is no study under", "--studies"]);
}

/// A project with one study of two reference targets, the second twice as slow.
fn project(folder: &Path, published: &[(&str, &str, &str)]) {
    let mut experiment = "[experiment]\nname = \"pair\"\nblocks = 5\n[[target]]\nname = \"one\"\n\
        reference = { law = \"constant\", mean = \"4ms\" }\n[[target]]\nname = \"two\"\n\
        reference = { law = \"constant\", mean = \"8ms\" }\n[scenario]\nrequest = { path = \"/ping\" }\n\
        [load]\nmodel = \"closed\"\nconnections = 4\n[phases]\nwarmup = { at_least = \"200ms\", at_most = \"200ms\" }\n\
        sample = \"300ms\"\nsamples = 1\n"
        .to_owned();
    let mut study = "schema = \"prony.study/1\"\narticle = \"own\"\ntitle = { en = \"a\", zh = \"b\" }\n\
        [conditions]\nconnections = 400\nversions = \"Prony 9.9\"\n"
        .to_owned();
    for (at, (id, metric, number)) in published.iter().enumerate() {
        experiment += &format!(
            "[[claim]]\nid = \"{id}\"\ntext = \"t\"\nmetric = \"{metric}\"\nbetter = \"one\"\nthan = \"two\"\n\
             published = {number}\nsource = {{ article = \"own\", place = \"p\" }}\n"
        );
        study += &format!(
            "[[claim]]\nnumber = {}\ntext = {{ en = \"{id}\", zh = \"z\" }}\nprinted = \"{number}\"\nplace = \"p\"\n\
             experiment = \"pair\"\nclaims = [\"{id}\"]\n",
            at + 1
        );
    }
    std::fs::create_dir_all(folder.join("studies")).expect("a folder");
    std::fs::create_dir_all(folder.join("experiments")).expect("a folder");
    std::fs::write(folder.join("studies/own.toml"), study).expect("a file");
    std::fs::write(folder.join("experiments/pair.toml"), experiment).expect("a file");
}

#[test]
fn a_study_of_ones_own_is_run_and_answered_and_not_run_again() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    // Neither a short nor a whole run of it has the 10,000 responses that this quantile needs.
    let published = [
        ("same", "throughput", "2.0"),
        ("more", "throughput", "1.2"),
        ("less", "throughput", "4.0"),
        ("contrary", "throughput", "0.5"),
        ("tail", "p999", "0.5"),
    ];
    project(folder.path(), &published);
    let (studies, runs) = (folder.path().join("studies"), folder.path().join("runs"));
    let place = ["--studies", studies.to_str().expect("UTF-8"), "--runs", runs.to_str().expect("UTF-8")];
    let none = good(&[&["ledger", "run", "--short", "--budget", "1s"][..], &place].concat());
    let left = none.err.split_once("left out by the budget\n").map(|(_, left)| left).unwrap_or_default();
    assert!(left.contains("pair: claims 1, 2, 3, 4, 5"), "{}", none.err);
    assert!(!runs.exists(), "nothing was run");
    let run = done(&[&["ledger", "run", "--short"][..], &place].concat());
    assert!(run.out.contains("experiments to run: 1"), "{}\n{}", run.out, run.err);
    let json = good(&[&["ledger", "--format", "json"][..], &place].concat()).out;
    let ledger: LedgerFile = serde_json::from_str(&json).expect("a ledger");
    let rows = &ledger.articles[0].rows;
    let undecided = "the time that is left goes to whole runs of what is undecided\n\n1 of 1: pair";
    assert!(run.err.contains(undecided) && !rows[4].verdict.is_decided(), "{}", run.err);
    // On a busy host all trials may be void, rightly.
    let is_void = rows.iter().all(|row| row.verdict == LedgerVerdict::Void);
    if !is_void {
        let verdicts: Vec<LedgerVerdict> = rows.iter().map(|row| row.verdict).collect();
        use LedgerVerdict::{Contradicted, Exceeded, Inconclusive, Reproduced, Weaker};
        let wanted = [Reproduced, Exceeded, Weaker, Contradicted];
        let fits = verdicts.iter().zip(wanted).all(|(got, wanted)| *got == wanted || *got == Inconclusive);
        assert!(fits, "{verdicts:?}: {json}");
    }
    assert!(rows.iter().all(|row| !row.short && row.run.is_some() && row.differs[0].here == "4"), "{json}");
    let version = format!("prony {}", env!("CARGO_PKG_VERSION"));
    assert!(rows.iter().all(|row| row.differs[1].here == version), "beside what was published: {json}");
    let again = good(&[&["ledger", "run", "--short", "--dry-run"][..], &place].concat()).out;
    assert!(again.contains("experiments to run: 0"), "{again}");
    let full = good(&[&["ledger", "run", "--dry-run"][..], &place].concat()).out;
    assert!(full.contains("experiments to run: 0"), "the whole run has answered what it can: {full}");
}

/// The process of the run in progress, once its first trial has intervals.
fn running(ledger: &Child, runs: &Path) -> u32 {
    let mut found = None;
    wait_until("a trial is measured", || {
        let folders = std::fs::read_dir(runs).into_iter().flatten().flatten();
        folders
            .map(|run| run.path().join("trials/0001/intervals.ndjson"))
            .any(|lines| std::fs::read_to_string(lines).is_ok_and(|lines| lines.contains('\n')))
    });
    wait_until("the run has a process", || {
        found = children(ledger.id()).into_iter().find(|(_, line)| line.contains("pair.toml"));
        found.is_some()
    });
    found.expect("it was found").0
}

/// A signal for one process only, as `kill` and services send it: Ctrl-C in a terminal reaches all.
#[test]
fn what_ends_the_ledger_ends_the_run_in_progress() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), &[("same", "throughput", "2.0")]);
    let file = folder.path().join("experiments/pair.toml");
    let text = std::fs::read_to_string(&file).expect("the experiment");
    std::fs::write(&file, text.replace("sample = \"300ms\"", "sample = \"60s\"")).expect("a longer one");
    let (studies, runs) = (folder.path().join("studies"), folder.path().join("runs"));
    let start = || {
        let args =
            ["ledger", "run", "--studies", studies.to_str().unwrap(), "--runs", runs.to_str().unwrap()];
        prony(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let ledger = start();
    let run = running(&ledger, &runs);
    kill_process(pid(&ledger), Signal::TERM).unwrap();
    let ended: Done = ledger.wait_with_output().unwrap().into();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.err.contains("the same command goes on with pair"), "{ended:?}");
    assert!(ended.out.contains("1 claim"), "the ledger as it now is: {ended:?}");
    assert!(is_gone(run), "{ended:?}");
    std::fs::remove_dir_all(&runs).unwrap();
    let mut ledger = start();
    let run = running(&ledger, &runs);
    ledger.kill().unwrap();
    ledger.wait().unwrap();
    wait_until("the run has ended as well", || is_gone(run));
    let kept = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let run: Value = serde_json::from_slice(&std::fs::read(kept.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["plan"]["name"], "pair", "what it had is whole, and is gone on with: {run}");
}
