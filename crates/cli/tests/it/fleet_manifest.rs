//! `prony fleet manifest` as a user runs it: who can read what it makes, and what systemd and kubectl say of it.

use crate::command::{bad, good, is_there};
use crate::fleet_keys::mode;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A folder of keys for two agents.
fn keys(folder: &Path) -> String {
    let keys = folder.join("keys").display().to_string();
    good(&["fleet", "keys", &keys, "--agents", "load-1,load-2"]);
    keys
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

#[test]
fn a_unit_is_what_systemd_takes() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    let program = env!("CARGO_BIN_EXE_prony");
    let words = ["fleet", "manifest", &keys, "--systemd", "--allow", "shop.internal", "--program", program];
    let unit = good(&words).out;
    assert!(unit.contains("agent --listen 0.0.0.0:7411 --tls %d --allow shop.internal"), "{unit}");
    if !is_there("systemd-analyze") {
        println!("skipped: systemd-analyze is not here (apt-get install systemd)");
        return;
    }
    let verify = |unit: &str| {
        let file = folder.path().join("prony-agent.service");
        std::fs::write(&file, unit).unwrap();
        let verified = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
        let said: String = text(&verified).lines().filter(|line| line.contains("prony-agent")).collect();
        (verified.status.success(), said)
    };
    assert_eq!(verify(&unit), (true, String::new()));
    let (_, said) = verify(&unit.replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"));
    assert!(said.contains("NoNewPrivilege"), "a planted mistake is found: {said}");
    let (is_good, said) = verify(&unit.replace(program, "/nonexistent/prony"));
    assert!(!is_good && said.contains("/nonexistent/prony"), "{said}");
    let offline = ["security", "--offline=true", "--threshold=25"];
    let file = folder.path().join("prony-agent.service");
    std::fs::write(&file, &unit).unwrap();
    let judged = Command::new("systemd-analyze").args(offline).arg(&file).output().unwrap();
    assert!(judged.status.success(), "an exposure of more than 2.5: {}", text(&judged));
}

#[test]
fn keys_for_kubernetes_go_to_a_file_of_their_owner_and_are_printed_only_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    let image = ["--kubernetes", "--image", "registry.internal/prony:0.1.0", "--allow", "10.1.0.0/16"];
    let words = [&["fleet", "manifest", keys.as_str()][..], &image].concat();
    bad(&words, 1, &["private keys, which are not printed unasked", "remedy: give --output"]);
    let out = folder.path().join("rendered");
    let to_folder = [&words[..], &["-o", out.to_str().unwrap()]].concat();
    let made = good(&to_folder);
    assert!(!format!("{made:?}").contains("PRIVATE KEY"), "{made:?}");
    let list = out.join("prony-agents.json");
    assert_eq!((mode(&out), mode(&list), mode(&out.join("fleet.toml"))), (0o700, 0o600, 0o600));
    bad(&to_folder, 1, &["prony-agents.json is there already", "remedy: "]);
    let read = std::fs::read_to_string(&list).unwrap();
    let parsed: Value = serde_json::from_str(&read).unwrap();
    let key = std::fs::read_to_string(Path::new(&keys).join("agents/load-2/key.pem")).unwrap();
    let items = parsed["items"].as_array().unwrap();
    let with_key: Vec<_> =
        items.iter().filter(|item| item["stringData"]["key.pem"] == key.as_str()).collect();
    assert_eq!(with_key.len(), 1);
    assert_eq!(with_key[0]["metadata"]["name"], "prony-load-2");
    assert!(!read.contains("authority.key"));
    let authority = std::fs::read_to_string(Path::new(&keys).join("authority.key")).unwrap();
    assert!(items.iter().all(|item| !item.to_string().contains(authority.lines().nth(1).unwrap())));
    let printed = good(&[&words[..], &["--print-keys"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&printed.out).unwrap(), parsed);
}

#[test]
fn kubectl_understands_every_object() {
    if !is_there("kubectl") {
        println!("skipped: kubectl is not here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    let image = ["--kubernetes", "--image", "registry.internal/prony:0.1.0", "--allow", "10.1.0.0/16"];
    let list = good(&[&["fleet", "manifest", keys.as_str(), "--print-keys"][..], &image].concat()).out;
    let file = folder.path().join("list.json");
    // Reads each object by its type, without a control plane, and changes the image of those that have pods.
    let read = |list: &str| {
        std::fs::write(&file, list).unwrap();
        let words = ["set", "image", "--local", "-o", "name", "agent=other:1", "-f"];
        let output =
            Command::new("kubectl").args(words).arg(&file).env("KUBECONFIG", "/nonexistent").output();
        text(&output.unwrap())
    };
    let said = read(&list);
    for set in ["statefulset.apps/prony-load-1", "statefulset.apps/prony-load-2"] {
        assert!(said.contains(set), "{said}");
    }
    for kind in ["*v1.Secret", "*v1.Service", "*v1.NetworkPolicy"] {
        assert!(said.contains(&format!("does not have a pod template: {kind}")), "{said}");
    }
    assert!(!said.contains("unmarshal"), "{said}");
    for (right, wrong) in [
        ("\"replicas\": 1", "\"replicas\": \"one\""),
        ("\"policyTypes\": [", "\"policyTypes\": [1, "),
        ("\"publishNotReadyAddresses\": true", "\"publishNotReadyAddresses\": 1"),
    ] {
        assert!(list.contains(right), "{right} in {list}");
        let said = read(&list.replace(right, wrong));
        assert!(said.contains("unmarshal"), "a planted mistake is found: {said}");
    }
}
