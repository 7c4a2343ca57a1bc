//! Agents in Kubernetes, from what `prony fleet manifest --kubernetes` renders to results, on a real control plane.

use crate::command::{Done, good};
use crate::fleet::run_in;
use crate::kubernetes::{Cluster, HOST, NAMESPACE, wait};
use crate::run::read;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const AGENTS: [&str; 2] = ["load-1", "load-2"];
/// The Service that makes names of pods.
const SERVICE: &str = "prony-agents";
const PROGRAM: &str = env!("CARGO_BIN_EXE_prony");

/// A target in the cluster's network.
struct Target {
    child: Child,
    url: String,
}

impl Target {
    fn start(cluster: &Cluster) -> Self {
        let mut command = cluster.command(PROGRAM);
        command.args(["reference", "--listen", &format!("{HOST}:0"), "--public", "--mean", "1ms"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        std::thread::spawn(move || said.lines().count());
        let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}"));
        Self { url: format!("http://{address}"), child }
    }

    /// Requests that it has counted.
    fn requests(&self, cluster: &Cluster) -> u64 {
        let address = self.url.trim_start_matches("http://").replace(':', "/");
        let script = format!(
            "exec 3<>/dev/tcp/{address}; printf 'GET /stats HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
        );
        let output = cluster.command("/bin/bash").args(["-c", &script]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let body: Value = serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        body["requests"].as_u64().unwrap()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is applied, and the fleet file that a controller's pod finds; all agents answer.
fn agents_in(cluster: &Cluster) -> String {
    let text = |name: &str| cluster.path(name).display().to_string();
    let (keys, rendered) = (text("keys"), text("rendered"));
    good(&["fleet", "keys", &keys, "--agents", &AGENTS.join(",")]);
    let image = ["--kubernetes", "--image", "registry.internal/prony:0.1.0", "--allow", "10.244.0.0/16"];
    let size = ["--cpus", "1", "--memory-mib", "256", "-o", &rendered];
    good(&[&["fleet", "manifest", keys.as_str()][..], &image, &size].concat());
    let made = cluster.kubectl(&["create", "-f", &format!("{rendered}/prony-agents.json")]);
    for object in [
        "secret/prony-controller",
        "service/prony-agents",
        "statefulset.apps/prony-load-2",
        "prony-agents created",
    ] {
        assert!(made.contains(object), "{object} in {made}");
    }
    cluster.mount("prony-controller", &cluster.path("controller"));
    let fleet = text("controller/fleet.toml");
    wait("both agents answer by their pods' names", || are_there(cluster, &fleet));
    fleet
}

fn are_there(cluster: &Cluster, fleet: &str) -> bool {
    cluster.has_names(SERVICE, AGENTS.len()) && ended(cluster, &["fleet", "list", fleet]).code == 0
}

/// The controller, in the cluster's network.
fn controller(cluster: &Cluster, args: &[&str]) -> Command {
    let mut command = cluster.command(PROGRAM);
    command.args(args);
    command
}

fn ended(cluster: &Cluster, args: &[&str]) -> Done {
    controller(cluster, args).output().unwrap().into()
}

fn experiment(folder: &Path, url: &str) -> String {
    let file = folder.join("lab.toml");
    let text = format!(
        "[experiment]\nname = \"lab\"\nblocks = 3\n[[target]]\nname = \"known\"\nurl = \"{url}\"\n\
         [scenario]\nrequest = {{ path = \"/ping\" }}\n\
         [load]\nmodel = \"open\"\nrate = 200\nconnections = 8\narrivals = \"constant\"\n\
         [phases]\nwarmup = {{ at_least = \"200ms\", at_most = \"200ms\" }}\nsample = \"4s\"\nsamples = 1\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// The pod that has an agent, by the name that no other pod will ever have.
fn uid(cluster: &Cluster, agent: &str) -> String {
    let pod = cluster.get("pod", &format!("prony-{agent}-0"));
    assert_eq!(pod["spec"]["nodeName"], "node-1", "the scheduler placed it");
    assert_eq!(pod["status"]["qosClass"], "Guaranteed", "requests are limits");
    pod["metadata"]["uid"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "starts a control plane of Kubernetes, which `make setup-kubernetes` builds; run by `make test-all`"]
fn agents_in_pods_make_a_load_and_an_eviction_costs_one_trial() {
    let Some(cluster) = Cluster::start() else { return };
    let fleet = agents_in(&cluster);
    let target = Target::start(&cluster);
    let url = format!("{}/ping", target.url);

    let load = ["load", &url, "--fleet", &fleet, "-c", "4", "-n", "1000", "--format", "json"];
    let loaded = ended(&cluster, &load);
    assert!(loaded.is_good(), "{loaded:?}");
    let report: Value = serde_json::from_str(&loaded.out).unwrap();
    assert_eq!(report["requests"]["completed"], 1000);
    assert_eq!(target.requests(&cluster), 1000, "the target counts the same");
    let agents = report["fleet"]["agents"].as_array().unwrap();
    assert!(agents.iter().map(|agent| agent["name"].as_str().unwrap()).eq(AGENTS), "{agents:?}");

    let elsewhere = ended(&cluster, &["load", "http://10.9.0.1:1/", "--fleet", &fleet, "-c", "4", "-n", "4"]);
    assert!(
        elsewhere.code != 0 && elsewhere.err.contains("--allow"),
        "the pods' own list holds: {elsewhere:?}"
    );

    let runs = cluster.path("runs");
    let file = experiment(&cluster.path("."), &target.url);
    let words = ["run", &file, "--runs", runs.to_str().unwrap(), "--pin", "off", "--fleet", &fleet];
    let log = cluster.path("run.log");
    let (said, both) = (|| std::fs::read_to_string(&log).unwrap(), File::create(&log).unwrap());
    let mut run =
        controller(&cluster, &words).stdout(both.try_clone().unwrap()).stderr(both).spawn().unwrap();
    wait("the second trial is under way", || {
        assert!(run.try_wait().unwrap().is_none(), "it ended: {}", said());
        run_in(&runs).is_some_and(|run| {
            std::fs::read_to_string(run.join("trials/0002/intervals.ndjson"))
                .is_ok_and(|text| text.lines().count() > 0)
        })
    });
    let first = run_in(&runs).unwrap().join("trials/0001/trial.json");
    let (kept, is_valid) = (std::fs::read(&first).unwrap(), read(&first)["outcome"] == "valid");
    let before = AGENTS.map(|agent| uid(&cluster, agent));
    cluster.evict("prony-load-2-0");
    let is_good = run.wait().unwrap().success();
    assert!(!is_good && said().contains("load-2"), "the lost agent is named: {}", said());
    wait("the pod in its place answers", || are_there(&cluster, &fleet));
    let after = AGENTS.map(|agent| uid(&cluster, agent));
    assert_eq!(before[0], after[0]);
    assert_ne!(before[1], after[1], "the StatefulSet made another pod of the same name");

    let folder = run_in(&runs).unwrap();
    let resumed = ended(&cluster, &["run", "--resume", folder.to_str().unwrap()]);
    // 2 where others had the CPUs, so that trials are void.
    assert!(matches!(resumed.code, 0 | 2), "{resumed:?}");
    let order = read(&folder.join("run.json"))["plan"]["order"].as_array().unwrap().clone();
    assert!(order.len() >= 3, "{order:?}");
    for planned in &order {
        let trial = read(&folder.join(format!("trials/{:04}/trial.json", planned["id"].as_u64().unwrap())));
        let requests = &trial["load"]["requests"];
        let count = |key: &str| requests[key].as_u64().unwrap();
        assert_eq!(
            (count("scheduled"), count("completed") + count("failed") + count("censored")),
            (800, 800),
            "{trial}"
        );
        assert_eq!(trial["load"]["fleet"]["agents"].as_array().unwrap().len(), 2);
    }
    // One that is void is run again in another place, but the folder of one that is valid stays as it is.
    assert!(!is_valid || std::fs::read(&first).unwrap() == kept, "only the trial in progress was lost");
    assert!(cluster.kubectl(&["-n", NAMESPACE, "get", "pods"]).contains("prony-load-2-0"));
}
