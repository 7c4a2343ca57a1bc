//! `prony init`: what it writes runs, what it asks it takes, and what it refuses it does not write.

use crate::command::{Server, bad, good, measured, prony, turn};
use schema::experiment::ExperimentFile;
use std::path::Path;
use std::process::Stdio;

fn experiment(file: &Path) -> ExperimentFile {
    let text = std::fs::read_to_string(file).unwrap();
    schema::text::parse_toml("written.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A path in a folder of its own, and the arguments that write to it.
fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    (folder, file)
}

#[test]
fn two_services_become_a_comparison_with_its_plan() {
    let (_folder, file) = place();
    let out = file.to_str().unwrap();
    let done = good(&["init", "127.0.0.1:9/a", "127.0.0.1:10/a", "--time", "2m", "-o", out]);
    let written = experiment(&file);
    assert_eq!(written.experiment.name, "127.0.0.1-9-vs-127.0.0.1-10");
    assert_eq!(written.experiment.blocks.map(|blocks| blocks.0), Some(6));
    assert_eq!(written.target.len(), 2);
    assert!(done.out.contains(&format!("next:    prony run {out}\n")), "{}", done.out);
    assert!(done.out.contains("does not answer yet"), "nothing listens there: {}", done.out);
    // The plan was shown, and is the one that prony run would show.
    let plan = good(&["run", out, "--dry-run"]);
    assert!(done.out.starts_with(&plan.out), "{}\n{}", done.out, plan.out);
}

#[test]
fn every_kind_of_service_and_load_is_an_experiment_that_run_takes() {
    for (args, wanted) in [
        (&["127.0.0.1:9"][..], "connections = [1, 2, 4, 8, 16, 32, 64, 128]"),
        (&["127.0.0.1:9", "-c", "7"], "connections = 7"),
        (&["127.0.0.1:9", "-R", "500"], "rate = 500"),
        (&["sh -c 'serve {port}'"], "command = [\"sh\", \"-c\", \"serve {port}\"]"),
        (&["sh serve.sh", "sh other.sh"], "env = { PORT = \"{port}\" }"),
        (&["sh a", "sh a"], "name = \"sh 2\""),
        (&["http://203.0.113.1"], "url = \"http://203.0.113.1\""),
        (&["127.0.0.1:9", "--path", "/it's"], "path = \"/it's\""),
        (&["127.0.0.1:9", "127.0.0.1:9", "127.0.0.1:10"], "blocks = 6"),
    ] {
        let (_folder, file) = place();
        let out = file.to_str().unwrap();
        let done = good(&[&["init", "-o", out][..], args].concat());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(wanted), "{args:?}\n{text}");
        assert_eq!(done.out.contains("--consent 203.0.113.1"), args[0].contains("203"), "{}", done.out);
        good(&["run", out, "--dry-run"]);
    }
}

#[test]
fn mistakes_write_nothing() {
    for (args, texts) in [
        (&["127.0.0.1:9", "127.0.0.1:10", "--time", "30s"][..], &["need at least 60s", "--time is 30s"][..]),
        (&["127.0.0.1:9/a", "127.0.0.1:10/b"], &["differ"]),
        (&["no-such-program-here"], &["no program on PATH", "http://127.0.0.1:8080"]),
        (&["127.0.0.1:9", "--name", "a/b"], &["name"]),
        (&[], &["no service is named"]),
    ] {
        let (folder, file) = place();
        bad(&[&["init", "-o", file.to_str().unwrap()][..], args].concat(), 1, texts);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{args:?}");
    }
    let (_folder, file) = place();
    let again = ["init", "127.0.0.1:9", "-o", file.to_str().unwrap()];
    std::fs::write(&file, "mine").unwrap();
    bad(&again, 1, &["exists already", "--force"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    good(&[&again[..], &["--force"]].concat());
    assert_eq!(experiment(&file).target.len(), 1);
}

#[test]
fn the_file_goes_where_experiments_are() {
    let folder = tempfile::tempdir().unwrap();
    let init = |name: &str| {
        let output = prony(&["init", "127.0.0.1:9", "--name", name])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    init("one");
    std::fs::create_dir(folder.path().join("experiments")).unwrap();
    init("two");
    assert!(folder.path().join("one.toml").is_file() && folder.path().join("experiments/two.toml").is_file());
}

#[test]
fn from_two_services_to_a_verdict_in_two_commands() {
    let _turn = turn();
    let services = [Server::start(&["--mean", "1ms"]), Server::start(&["--mean", "2ms"])];
    let urls = services.each_ref().map(|service| service.url("/ping"));
    let (folder, file) = place();
    let (out, runs) = (file.to_str().unwrap(), folder.path().join("runs"));
    let written = good(&["init", &urls[0], &urls[1], "--time", "1m", "--blocks", "5", "-c", "4", "-o", out]);
    assert!(!written.out.contains("does not answer yet"), "{}", written.out);
    // As written but for the times, which are those of people.
    let text = std::fs::read_to_string(&file).unwrap();
    let shorter = text.replace("\"1s\"", "\"200ms\"").replace(&sample_of(&text), "sample = \"500ms\"");
    assert_ne!(shorter, text);
    std::fs::write(&file, shorter).unwrap();
    let run = measured(&["run", out, "--runs", runs.to_str().unwrap()]);
    let text = format!("{}\n{}", run.out, run.err);
    assert!(text.contains("Which is faster"), "{text}");
    if run.out.contains("No answer") {
        return println!("skipped: the verdict, because this host made too many trials void");
    }
    assert!(text.contains("Ranking  by requests/s") && run.out.contains("requests per second"), "{text}");
}

fn sample_of(text: &str) -> String {
    text.lines().find(|line| line.starts_with("sample = ")).expect("a sample has a length").to_owned()
}
