//! Every command that takes a URL reads it by the same grammar, IPv6 zones (RFC 6874) included.

use crate::command::{bad, good, prony};
use std::path::{Path, PathBuf};

const ZONED: &str = "http://[fe80::1%25lo]:8080";

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Two requests, a second apart.
fn log(folder: &Path) -> PathBuf {
    let line = |second: u32| {
        format!("10.0.0.1 - - [10/Oct/2026:13:55:{second:02} +0000] \"GET /a HTTP/1.1\" 200 2326\n")
    };
    write(folder, "access.log", &(10..40).map(line).collect::<String>())
}

#[test]
fn imports_keep_the_zone_of_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let har = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{\"method\":\"GET\",\"url\":\"{ZONED}/a\",\"headers\":[]}},\
         \"response\":{{\"status\":200}}}}]}}}}"
    );
    for (name, text) in [
        ("list.txt", format!("{ZONED}/a\n")),
        ("raw.txt", "http://[fe80::1%lo]:8080/a\n".to_owned()),
        ("targets.vegeta", format!("GET {ZONED}/a\n")),
        ("lines.sh", format!("curl -g '{ZONED}/a'\n")),
        ("site.har", har),
    ] {
        let file = write(folder.path(), name, &text);
        let done = good(&["import", file.to_str().unwrap()]);
        assert!(done.out.contains(&format!("Recorded at {ZONED}\n")), "{name}: {}", done.out);
        assert!(done.out.contains("path = \"/a\""), "{name}: {}", done.out);
    }
    let paths = write(folder.path(), "paths.txt", "/a\n/b\n");
    let done = good(&["import", "--origin", ZONED, paths.to_str().unwrap()]);
    assert!(done.out.contains(&format!("Recorded at {ZONED}\n")), "{}", done.out);
}

#[test]
fn what_makes_load_looks_for_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    // A device that is not there, so that nothing is sent; a URL that is none would be reported as such.
    let url = "http://[fe80::1%25nosuch0]:8080/";
    for command in [&["load"][..], &["replay", log.to_str().unwrap(), "--url"], &["knee"]] {
        bad(&[command, &[url]].concat(), 1, &["`fe80::1%nosuch0` does not resolve"]);
    }
}

#[test]
fn model_writes_experiments_for_urls_that_run_takes() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (log(folder.path()), folder.path().join("out"));
    let (log, out) = (log.to_str().unwrap(), out.to_str().unwrap());
    good(&["model", log, "--out", out, "--name", "zoned", "--url", ZONED]);
    let text = std::fs::read_to_string(folder.path().join("out/experiments/zoned.toml")).unwrap();
    assert!(text.contains(&format!("url = \"{ZONED}\"")), "{text}");
    let run = prony(&["run", "experiments/zoned.toml", "--dry-run"]).current_dir(out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for (url, text) in
        [("ftp://h", "only http://"), ("http://h/a", "give --url http://h"), ("http://[h]", "IPv6")]
    {
        bad(&["model", log, "--out", out, "--name", "bad", "--url", url], 1, &[text]);
    }
}
