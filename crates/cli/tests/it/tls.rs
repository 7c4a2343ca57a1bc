//! `https://` from end to end: the reference target with its own certificate, load, experiments, and wrong options.

use crate::command::{Server, bad, done, good, measured};
use crate::load::check_report;
use crate::run::{Lab, read};
use serde_json::Value;
use tempfile::TempDir;

/// A reference target with TLS, and the file that holds its CA.
fn secure() -> (Server, TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem").display().to_string();
    let server = Server::start(&["--tls", "--tls-ca-out", &ca]);
    (server, folder, ca)
}

fn url(server: &Server, path: &str) -> String {
    server.url(path).replace("http://", "https://")
}

#[test]
fn a_load_over_tls_counts_its_handshakes() {
    let (server, _folder, ca) = secure();
    let url = url(&server, "/ping");
    for (extra, versions) in [(&["--tls-versions", "1.2"][..], "TLS 1.2"), (&[], "TLS 1.2 or 1.3")] {
        let mut args = vec!["load", &url, "--cacert", &ca, "-n", "1k", "-c", "4", "-t", "2"];
        args.extend(extra);
        let text = good(&[&args[..], &["--latency"]].concat());
        assert!(text.out.contains("handshakes"), "{}", text.out);
        assert!(text.out.contains(versions), "{}", text.out);
        let report: Value =
            serde_json::from_str(&good(&[&args[..], &["--format", "json"]].concat()).out).unwrap();
        check_report(&report);
        assert_eq!(report["requests"]["completed"], 1000);
        let shakes = &report["connections"]["handshakes"];
        assert_eq!(shakes["full"].as_u64().unwrap() + shakes["resumed"].as_u64().unwrap(), 4);
        assert_eq!(report["latency_ns"]["tls"]["count"], 4);
    }
}

#[test]
fn certificates_that_are_not_trusted_are_told_with_the_remedy() {
    let (server, folder, _ca) = secure();
    let url = url(&server, "/");
    // The system does not know this CA, or has none at all.
    let done = done(&["load", &url, "-n", "1"]);
    assert_ne!(done.code, 0, "{done:?}");
    assert!(done.err.contains("--cacert") && done.err.contains("-k"), "{done:?}");
    good(&["load", &url, "-n", "10", "-k"]);
    // A name that the certificate does not have.
    let ca = folder.path().join("ca.pem").display().to_string();
    bad(&["load", &url, "-n", "1", "--cacert", &ca, "--sni", "other.test"], 2, &["another name", "--sni"]);
}

#[test]
fn wrong_options_are_told_before_anything_is_sent() {
    let (server, folder, ca) = secure();
    let (secure, plain) = (url(&server, "/"), server.url("/"));
    let missing = folder.path().join("none.pem").display().to_string();
    for (args, texts) in [
        (vec![secure.as_str(), "--tls-versions", "1.4"], ["`1.4`", "1.2, 1.3"]),
        (vec![&secure, "-k", "--tls-groups", "x25518"], ["x25519", "remedy"]),
        (vec![&secure, "-k", "--tls-ciphers", "TLS_AES_129_GCM_SHA256"], ["did you mean", "TLS_AES_128"]),
        (vec![&secure, "--cacert", &missing], ["none.pem", "No such file"]),
        (vec![&secure, "-k", "--cert", &ca], ["key file", "PRIVATE KEY"]),
        (vec![&plain, "-k"], ["plain text", "https://"]),
    ] {
        let mut all = vec!["load"];
        all.extend(&args);
        all.extend(["-n", "1"]);
        bad(&all, 1, &texts);
    }
}

#[test]
fn an_experiment_measures_an_https_url_after_its_contract_was_checked() {
    let (server, _folder, ca) = secure();
    let target =
        format!("[[target]]\nurl = \"{}\"\ntls = {{ ca = {ca:?}, versions = [\"1.3\"] }}", url(&server, ""));
    {
        let lab = Lab::new(&target, "", "blocks = 1");
        measured(&lab.args());
        let trial = read(&lab.run().join("trials/0001/trial.json"));
        assert_eq!(trial["load"]["plan"]["load"]["tls"]["versions"], serde_json::json!(["1.3"]));
        assert!(trial["load"]["connections"]["handshakes"]["full"].as_u64().unwrap() > 0, "{trial:#}");
    }
    // A name that the certificate does not have: the contract check refuses before any load.
    let lab = Lab::new(&target.replace("versions = [\"1.3\"]", "sni = \"other.test\""), "", "blocks = 1");
    bad(&lab.args(), 2, &["TLS failed", "server name"]);
}
