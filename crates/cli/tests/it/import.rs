//! `prony import`: where the scenario goes, what is printed, and what is refused before anything is written.

use crate::command::{Done, bad, good, prony, root};
use schema::scenario::ScenarioFile;
use std::path::Path;

fn fixture(name: &str) -> String {
    root().join("crates/import/tests/fixtures").join(name).display().to_string()
}

fn scenario(text: &str) -> ScenarioFile {
    schema::text::parse_toml("written.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_scenario_goes_to_standard_output_and_notes_to_standard_error() {
    let done = good(&["import", &fixture("urls.txt")]);
    assert!(done.out.starts_with("# Recorded at http://127.0.0.1:9000\n"), "{}", done.out);
    let scenario = scenario(&done.out);
    assert_eq!((scenario.name.as_str(), scenario.requests.len()), ("urls", 6));
    assert!(done.err.contains("note: requests to https://cdn.example:443 left out"), "{}", done.err);
}

#[test]
fn bodies_that_are_no_text_go_beside_the_scenario_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (file, body) = (folder.path().join("shop.toml"), folder.path().join("shop-body-1.bin"));
    let targets = fixture("targets.vegeta.json");
    let import = ["import", &targets, "-o", text(&file)];
    good(&import);
    assert_eq!(scenario(&std::fs::read_to_string(&file).unwrap()).name, "shop");
    assert_eq!(std::fs::read(&body).unwrap(), [0xff, 0xfe, 0, 1]);
    std::fs::write(&file, "mine").unwrap();
    bad(&import, 1, &["exists already", "--force"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    good(&[&import[..], &["--force"]].concat());
    assert_ne!(std::fs::read_to_string(&file).unwrap(), "mine");
    bad(&["import", &targets], 1, &["say where: -o FILE"]);
}

#[test]
fn body_files_are_found_from_a_scenario_in_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["in/deep", "out"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    std::fs::write(at("in/a.bin"), "a").unwrap();
    std::fs::write(at("in/deep/b.bin"), "b").unwrap();
    let targets = "POST http://127.0.0.1:9/a\n@a.bin\n\nPOST http://127.0.0.1:9/b\n@./deep/b.bin\n\n\
                   POST http://127.0.0.1:9/c\n@gone.bin\n\nPOST http://127.0.0.1:9/d\n@/dev/null\n";
    std::fs::write(at("in/targets.txt"), targets).unwrap();
    // Started in the folder of the input, and elsewhere: the input's own folder is looked at, too.
    for (here, input, gone) in
        [("in", "targets.txt", "../in/gone.bin"), ("out", "../in/targets.txt", "gone.bin")]
    {
        let mut import = prony(&["import", input, "-o", text(&at("out/x.toml")), "--force"]);
        let done: Done = import.current_dir(at(here)).output().unwrap().into();
        assert_eq!(done.code, 0, "{done:?}");
        let scenario = scenario(&std::fs::read_to_string(at("out/x.toml")).unwrap());
        let files: Vec<&str> =
            scenario.requests.iter().map(|request| request.body_file.as_deref().unwrap()).collect();
        assert_eq!(files, ["../in/a.bin", "../in/deep/b.bin", gone, "/dev/null"]);
        assert!(done.err.contains("note: body files that are not there: 1"), "{}", done.err);
        assert!(at("out").join(files[0]).is_file());
    }
}

#[test]
fn a_session_keeps_its_order_and_pauses() {
    let done = good(&["import", &fixture("shop.har"), "--session", "--name", "visit"]);
    let scenario = scenario(&done.out);
    assert_eq!(scenario.name, "visit");
    assert!(scenario.session.is_some() && scenario.requests[2].think.is_some());
    assert!(done.err.contains("a session of 8 steps"), "{}", done.err);
}

#[test]
fn mistakes_have_cause_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input");
    let write = |content: &[u8]| std::fs::write(&file, content).unwrap();
    write(b"hello world\n");
    bad(&["import", text(&file)], 1, &["its name and beginning do not show its format", "--format vegeta|"]);
    write(b"http://h/\n\xff\n");
    bad(&["import", text(&file)], 1, &["input:2: the file is not UTF-8"]);
    write(b"http://h/\nftp://h/\n");
    bad(&["import", text(&file)], 1, &["input:2: `ftp://h/` is no URL of HTTP", "remedy: "]);
    write(b"{\"log\":{\"entries\":[]}}");
    bad(&["import", text(&file), "--format", "har"], 1, &["the HAR has no entries", "remedy: "]);
    bad(&["import", text(&file), "--name", "a/b"], 1, &["cannot be the name of a file"]);
    bad(&["import", text(&file), "--name", "a", "-o", "b.toml"], 1, &["--name a"]);
    bad(&["import", "/nonexistent/file"], 1, &["cannot read /nonexistent/file"]);
}

#[test]
fn a_plan_of_jmeter_says_how_much_to_send_in_words_that_load_takes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("data")).unwrap();
    std::fs::write(at("data/accounts.csv"), "a@b.test;x\n").unwrap();
    let (plan, file) = (at("shop.jmx"), at("the buyers.toml"));
    std::fs::copy(fixture("shop.jmx"), &plan).unwrap();
    let done = good(&["import", text(&plan), "-o", text(&file)]);
    assert!(done.err.contains("note: left out: IfController `Only members`"), "{}", done.err);
    assert!(!done.err.contains("not there"), "the rows are beside the plan: {}", done.err);
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(scenario(&written).feeders["accounts"].file, "data/accounts.csv");
    let command = done.err.lines().find_map(|line| line.strip_prefix("run it: ")).expect("a command");
    assert!(written.contains(&format!("# {command}\n")), "{written}");
    // What it says is resolved as a load: only then is it looked at whether anybody listens.
    let words = shlex::split(command).expect("quoted for a shell");
    let mut arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let url = arguments.iter().position(|word| word.starts_with("http://")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let free = format!("http://{free}");
    arguments[url] = &free;
    bad(&arguments, 2, &["nothing listens at 127.0.0.1:"]);
    bad(
        &["import", text(&plan), "--group", "Sellers"],
        1,
        &["there is no thread group `Sellers`", "`Buyers`"],
    );
    let urls = at("urls.txt");
    std::fs::write(&urls, "http://127.0.0.1:8080/\n").unwrap();
    bad(&["import", text(&urls), "--group", "Buyers"], 1, &["is read as urls", "--format jmeter"]);
}

/// A script of k6 sends what it says, with the checks and values that it has.
#[test]
fn a_script_of_k6_is_loaded_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let server = crate::command::Server::start(&[]);
    let script = folder.path().join("shop.js");
    let code = format!(
        "import http from 'k6/http';\nimport {{ check, sleep }} from 'k6';\n\
         export const options = {{ vus: 2, iterations: 20, thresholds: {{ http_req_failed: ['rate<0.5'] }} }};\n\
         export default function () {{\n  const a = http.get('{0}/a');\n  \
         check(a, {{ ok: (r) => r.status === 200 && r.json('code') === 0 }});\n  \
         http.post(`{0}/b?m=${{a.json('msg')}}`, JSON.stringify({{ x: 1 }}));\n  sleep(0.01);\n}}\n",
        server.url("")
    );
    std::fs::write(&script, code).unwrap();
    let scenario = folder.path().join("shop.toml");
    let done = good(&["import", text(&script), "-o", text(&scenario)]);
    let run = done.err.lines().find_map(|line| line.strip_prefix("run it: prony ")).expect("a command");
    let mut words = shlex::split(run).expect("a shell reads it");
    words.extend(["--format", "json"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let loaded = good(&words);
    let report: serde_json::Value = serde_json::from_str(&loaded.out).unwrap();
    assert_eq!(report["requests"]["completed"], 40, "{report:#}");
    assert_eq!(report["requests"]["failed"], 0, "{report:#}");
}
