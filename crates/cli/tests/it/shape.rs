//! `prony shape` and the flags of arrivals: the picture, the machine formats, and refusals.

use crate::command::{Server, bad, good};
use crate::load::check_schema;
use serde_json::Value;

const RAMP: [&str; 7] = ["shape", "-R", "100", "--shape", "ramp:to=x9,over=10s", "-d", "20s"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    RAMP.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn the_picture_shows_the_ramp_and_its_sums() {
    let text = good(&with(&["--arrivals", "poisson"])).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // 10 s from 100 to 900/s, then 10 s at 900/s.
    assert!(text.contains("of 14000.0 intended") && text.contains("900/s"), "{text}");
}

#[test]
fn machines_get_columns_that_add_up() {
    let report: Value = serde_json::from_str(&good(&with(&["--format", "json"])).out).unwrap();
    check_schema("shape", &report);
    let load = &report["loads"][0];
    assert_eq!(load["arrivals"], 14_000);
    let columns = load["columns"].as_array().unwrap();
    let sum: u64 = columns.iter().map(|column| column["arrivals"].as_u64().unwrap()).sum();
    assert_eq!(sum, 14_000);
    let csv = good(&with(&["--format", "csv"])).out;
    assert_eq!(csv.lines().count(), columns.len() + 1);
}

#[test]
fn an_experiment_file_is_drawn_and_closed_loads_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.toml");
    let write = |load: &str| {
        let head = "[experiment]\nname = \"e\"\n[[target]]\nurl = \"http://127.0.0.1:9\"\n\
                    [scenario]\nrequest = { path = \"/\" }\n";
        let phases =
            "[phases]\nwarmup = { at_least = \"1s\", at_most = \"1s\" }\nsample = \"5s\"\nsamples = 2\n";
        std::fs::write(&file, format!("{head}[load]\n{load}\n{phases}")).unwrap();
    };
    let name = file.display().to_string();
    write(
        "model = \"open\"\nrate = [100, 200]\nshape = { kind = \"spike\", to = \"x5\", at = \"2s\", for = \"1s\" }",
    );
    let text = good(&["shape", &name]).out;
    // A second of warm-up and nine at the rate, one at five times it.
    assert!(text.contains("spike at 100/s") && text.contains("1500 of 1500.0"), "{text}");
    assert!(text.contains("spike at 200/s") && text.contains("3000 of 3000.0"), "{text}");
    write("model = \"closed\"\nthink = \"lognormal:mean=5ms,cv=1\"");
    bad(&["shape", &name], 1, &["closed loads only"]);
    write("model = \"closed\"\narrivals = \"poisson\"");
    bad(&["shape", &name], 1, &["e.toml:9:1", "a closed load has no arrival process"]);
    write("model = \"open\"\nrate = 10\nthink = \"5ms\"");
    bad(&["shape", &name], 1, &["e.toml:10:1", "no think time"]);
}

#[test]
fn load_takes_the_same_flags_and_refuses_what_does_not_fit() {
    let server = Server::start(&[]);
    let url = server.url("/");
    let done = good(&["load", &url, "-R", "400", "-c", "8", "-d", "1s", "--shape", "steps:x1,x2,each=500ms"]);
    assert!(done.out.contains("600 scheduled"), "{}", done.out);
    let folder = tempfile::tempdir().unwrap();
    let times = folder.path().join("times.txt");
    std::fs::write(&times, "100.0\n100.25\n100.5\n").unwrap();
    let recorded = format!("recorded:{}", times.display());
    let done = good(&["load", &url, "-c", "2", "-d", "1s", "--arrivals", &recorded]);
    assert!(done.out.contains("3 scheduled"), "{}", done.out);
    bad(&["load", &url, "--arrivals", "poison", "-R", "9"], 1, &["did you mean `poisson`?"]);
    bad(&["load", &url, "--shape", "ramp:to=9,over=1s"], 1, &["--shape: a closed load has no shape"]);
    bad(&["load", &url, "--think", "1ms", "-R", "9"], 1, &["--think: an open load has no think time"]);
    std::fs::write(&times, "100\n99\n").unwrap();
    bad(&["load", &url, "--arrivals", &recorded], 1, &["times.txt:2:1: this time is earlier"]);
}
