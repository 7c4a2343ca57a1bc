//! A control plane of Kubernetes in a network of its own, with one node that is kwok's.
//!
//! kwok says what a kubelet would say and starts nothing. `Shim` starts the program of each pod that has a node and an
//! address: as the pod's user without capabilities, with its Secret as files, on the pod's address. Names of pods are those
//! that the control plane put into the Service's EndpointSlices, as a cluster's DNS would answer them.
//!
//! All of it lives in one network and one mount namespace, so ports are fixed, no address is anybody else's, and the
//! host's `/etc/hosts` stays as it is. Not here: a network that enforces policies.

use crate::command::root;
use base64::Engine as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The namespace that the objects are made in.
pub(crate) const NAMESPACE: &str = "prony";
/// Pods have addresses of this network; its first one is the host's.
pub(crate) const HOST: &str = "10.244.0.1";
const PODS: &str = "10.244.0.0/24";
/// The API server's own choice of port.
const API: &str = "https://127.0.0.1:6443";
const TOKEN: &str = "of-a-test";
/// Where `scripts/setup-kubernetes.sh` puts what it builds.
const BUILT: &str = "target/kubernetes/bin";
/// And what kwok does with nodes and pods.
const STAGES: &str = "target/kubernetes/stages.yaml";
const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";
const CONTROLLERS: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";
const KWOK: &str = "kwok";
/// All of the control plane.
const PARTS: [&str; 5] = [ETCD, API_SERVER, CONTROLLERS, SCHEDULER, KWOK];
const STORE: &str = "127.0.0.1:2379";
/// Of the files of a controller's Secret, as `docs/fleet.md` says.
const CONTROLLER_MODE: u32 = 0o440;
/// Signs the tokens of service accounts.
const ACCOUNTS_KEY: &str = "accounts.key";

/// Most that the control plane may take for one thing; a busy host gives it little.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks, each of which is a program of its own.
const LOOK: Duration = Duration::from_millis(200);

/// What a pod's program has to end, as Kubernetes' own default.
const GRACE: Duration = Duration::from_secs(30);

/// Looks until a condition holds; bounded.
pub(crate) fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(LOOK);
    }
}

/// A process that ends with the test.
struct Part(Child);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A network and a view of files that end with their last process.
struct Net {
    holder: Part,
    hosts: PathBuf,
}

impl Net {
    /// `None` where this user makes no namespaces.
    fn start(folder: &Path) -> Option<Self> {
        let hosts = folder.join("hosts");
        fs::write(&hosts, "").unwrap();
        // Pods run as a user who may not see the folder that prony was built in.
        fs::write(folder.join("prony"), "").unwrap();
        let script = format!(
            "ip link set lo up && ip route add local {PODS} dev lo && mount --bind \"$1\" /etc/hosts && \
             mount --bind \"$2\" \"$3\" && echo ready && exec cat"
        );
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-c", &script, "sh"]);
        command.arg(&hosts).arg(env!("CARGO_BIN_EXE_prony")).arg(folder.join("prony"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        (line.trim() == "ready").then_some(Self { holder: Part(child), hosts })
    }

    /// A program inside. It keeps its process id, so that it can be ended.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.0.id().to_string(), "--net", "--mount", "--"]).arg(program);
        command.stdin(Stdio::null()).env("NO_COLOR", "1").env("XDG_STATE_HOME", "/nonexistent/prony-tests");
        command
    }
}

/// What is on PATH, or what the set-up built.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![root().join(BUILT)];
    folders.extend(std::env::split_paths(&path));
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// kubectl as this control plane's user, inside of its network.
#[derive(Clone)]
struct Kubectl {
    net: Arc<Net>,
    folder: PathBuf,
}

impl Kubectl {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.net.command(&program("kubectl").expect("it was looked for"));
        command.args(args).env("KUBECONFIG", self.folder.join("kubeconfig")).env("HOME", &self.folder);
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// An object of the namespace.
    fn get(&self, kind: &str, name: &str) -> Value {
        let output = self.output(&["-n", NAMESPACE, "get", kind, name, "-o", "json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{kind} {name}: {error}: {said}"))
    }
}

/// The control plane, and whoever starts pods.
pub(crate) struct Cluster {
    shim: Option<Shim>,
    parts: Vec<Part>,
    kubectl: Kubectl,
    net: Arc<Net>,
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `None` where it cannot be had, which is said.
    pub(crate) fn start() -> Option<Self> {
        let tools =
            ["ip", "unshare", "nsenter", "setpriv"].map(|name| (name, "apt-get install util-linux iproute2"));
        let built = PARTS.iter().chain(&["kubectl"]).map(|name| (*name, "make setup-kubernetes"));
        let wanted = tools.into_iter().chain(built);
        for (name, remedy) in wanted {
            if program(name).is_none() {
                println!("skipped: {name} is not here ({remedy})");
                return None;
            }
        }
        if !root().join(STAGES).is_file() {
            println!("skipped: {STAGES} is not here (make setup-kubernetes)");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let Some(net) = Net::start(folder.path()) else {
            println!("skipped: no network namespace to be had (run as root)");
            return None;
        };
        let net = Arc::new(net);
        let kubectl = Kubectl { net: net.clone(), folder: folder.path().to_owned() };
        let mut cluster = Self { shim: None, parts: Vec::new(), kubectl, net, folder };
        cluster.begin();
        Some(cluster)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn begin(&mut self) {
        self.store_and_api();
        self.controllers();
        self.create(&json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" } }));
        self.kubectl(&["create", "namespace", NAMESPACE]);
        self.shim = Some(Shim::start(self));
    }

    /// etcd and the API server, which answer once this returns.
    fn store_and_api(&mut self) {
        let data = format!("--data-dir={}", self.path("etcd").display());
        let listens =
            ["--listen-client-urls", "--advertise-client-urls"].map(|flag| format!("{flag}=http://{STORE}"));
        self.part(ETCD, &[&data, &listens[0], &listens[1], "--listen-peer-urls=http://127.0.0.1:2380"]);
        fs::write(self.path("kubeconfig"), kubeconfig()).unwrap();
        fs::write(self.path("tokens.csv"), format!("{TOKEN},tests,tests,system:masters\n")).unwrap();
        // Any key pair will do; the public half is read from a certificate.
        let pair = testkit::certs::Pki::new().unwrap().foreign_client().unwrap();
        fs::write(self.path(ACCOUNTS_KEY), pair.key_pem()).unwrap();
        fs::write(self.path("accounts.pem"), pair.certificate_pem()).unwrap();
        let files = [
            ("--cert-dir", "certificates"),
            ("--token-auth-file", "tokens.csv"),
            ("--service-account-signing-key-file", ACCOUNTS_KEY),
            ("--service-account-key-file", "accounts.pem"),
        ];
        let files = files.map(|(flag, name)| format!("{flag}={}", self.path(name).display()));
        let addresses = [format!("--etcd-servers=http://{STORE}"), format!("--advertise-address={HOST}")];
        let mut args = vec![
            "--bind-address=127.0.0.1",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=AlwaysAllow",
            "--service-account-issuer=https://kubernetes.default.svc",
        ];
        args.extend(files.iter().chain(&addresses).map(String::as_str));
        self.part(API_SERVER, &args);
        wait("the control plane answers", || {
            self.kubectl.output(&["get", "--raw", "/readyz"]).status.success()
        });
    }

    /// What makes pods of sets, places them, and says that they run.
    fn controllers(&mut self) {
        let config = format!("--kubeconfig={}", self.path("kubeconfig").display());
        let key = format!("--service-account-private-key-file={}", self.path(ACCOUNTS_KEY).display());
        let stages = format!("--config={}", root().join(STAGES).display());
        let network = format!("--cidr={HOST}/24");
        self.part(CONTROLLERS, &[&config, &key, "--leader-elect=false"]);
        self.part(SCHEDULER, &[&config, "--leader-elect=false"]);
        self.part(KWOK, &[&config, &stages, &network, "--manage-all-nodes=true"]);
    }

    /// A part of the control plane, whose words go to a file.
    fn part(&mut self, name: &str, args: &[&str]) {
        let log = File::create(self.path(&format!("{name}.log"))).unwrap();
        let mut command = self.net.command(&program(name).unwrap());
        let child = command.args(args).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        self.parts.push(Part(child));
    }

    /// A program inside of the cluster's network.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.net.command(Path::new(program))
    }

    /// What kubectl says; it must succeed.
    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        let output = self.kubectl.output(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "kubectl {args:?}: {said}\n{}", self.last_words());
        String::from_utf8(output.stdout).unwrap()
    }

    /// The last lines of what each part of the control plane wrote.
    fn last_words(&self) -> String {
        let last = |name: &&str| {
            let text = fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(5).collect();
            format!("{name}:\n{}\n", lines.join("\n"))
        };
        PARTS.iter().map(last).collect()
    }

    /// Pods as the control plane sees them, and what each one's program said.
    fn state(&self) -> String {
        let pods = self.kubectl.output(&["-n", NAMESPACE, "get", "pods,endpointslices", "-o", "wide"]);
        let mut text = String::from_utf8_lossy(&pods.stdout).into_owned();
        for entry in fs::read_dir(self.folder.path()).into_iter().flatten().flatten() {
            if let Ok(said) = fs::read_to_string(entry.path().join("log")) {
                text.push_str(&format!("{}:\n{said}\n", entry.file_name().display()));
            }
        }
        text
    }

    pub(crate) fn create(&self, object: &Value) -> String {
        let file = self.path("object.json");
        fs::write(&file, object.to_string()).unwrap();
        self.kubectl(&["create", "-f", file.to_str().unwrap()])
    }

    /// An object of the namespace.
    pub(crate) fn get(&self, kind: &str, name: &str) -> Value {
        self.kubectl.get(kind, name)
    }

    /// Evicts a pod, as draining its node would.
    pub(crate) fn evict(&self, pod: &str) {
        let file = self.path("eviction.json");
        let metadata = json!({ "name": pod, "namespace": NAMESPACE });
        let body = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata });
        fs::write(&file, body.to_string()).unwrap();
        let at = format!("/api/v1/namespaces/{NAMESPACE}/pods/{pod}/eviction");
        self.kubectl(&["create", "--raw", &at, "-f", file.to_str().unwrap()]);
    }

    /// A Secret as the files that a controller's pod finds.
    pub(crate) fn mount(&self, secret: &str, folder: &Path) {
        write_files(&self.get("secret", secret), folder, 0, CONTROLLER_MODE);
    }

    /// Names of pods as they are now, for all programs of the cluster's network; whether there are so many.
    pub(crate) fn has_names(&self, service: &str, count: usize) -> bool {
        let of_service = format!("kubernetes.io/service-name={service}");
        let list = self.kubectl(&["-n", NAMESPACE, "get", "endpointslices", "-l", &of_service, "-o", "json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for endpoint in list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|slice| slice["endpoints"].as_array())
            .flatten()
        {
            let (Some(address), Some(name)) =
                (endpoint["addresses"][0].as_str(), endpoint["hostname"].as_str())
            else {
                continue;
            };
            hosts.push_str(&format!("{address} {name}.{service}.{NAMESPACE}.svc\n"));
        }
        // In place: another file would not be the one that is bound.
        fs::write(&self.net.hosts, &hosts).unwrap();
        hosts.lines().count() == count + 1
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}\n{}", self.last_words(), self.state());
        }
        // Before the control plane, whose events it follows.
        self.shim = None;
        while self.parts.pop().is_some() {}
    }
}

fn kubeconfig() -> String {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "test", "cluster": { "server": API, "insecure-skip-tls-verify": true } }],
        "users": [{ "name": "test", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test" } }],
        "current-context": "test",
    })
    .to_string()
}

/// The files of a Secret, root's and this group's.
fn write_files(secret: &Value, folder: &Path, group: u32, mode: u32) {
    fs::create_dir_all(folder).unwrap();
    for (name, value) in secret["data"].as_object().unwrap() {
        let file = folder.join(name);
        let bytes = base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        chown(&file, Some(0), Some(group)).unwrap();
    }
}

/// Starts and ends what pods say.
struct Shim {
    watch: Part,
    thread: Option<JoinHandle<()>>,
}

/// The processes of pods, by the pods' unique names.
type Running = BTreeMap<String, Part>;

impl Shim {
    fn start(cluster: &Cluster) -> Self {
        let watch = ["-n", NAMESPACE, "get", "pods", "--watch", "--output-watch-events", "-o", "json"];
        let mut watch = Part(cluster.kubectl.command(&watch).stdout(Stdio::piped()).spawn().unwrap());
        let events = BufReader::new(watch.0.stdout.take().unwrap());
        let host = PodHost(cluster.kubectl.clone());
        let thread = std::thread::spawn(move || {
            let mut running = Running::new();
            let events = serde_json::Deserializer::from_reader(events).into_iter::<Value>();
            events.map_while(Result::ok).for_each(|event| host.heed(&event, &mut running));
        });
        Self { watch, thread: Some(thread) }
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        let _ = self.watch.0.kill();
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        assert!(ended.is_ok() || std::thread::panicking(), "what starts pods failed, see above");
    }
}

/// Starts and ends the programs of pods, as a kubelet would.
struct PodHost(Kubectl);

impl PodHost {
    fn heed(&self, event: &Value, running: &mut Running) {
        let pod = &event["object"];
        let uid = pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        if event["type"] == "DELETED" || pod["metadata"]["deletionTimestamp"].is_string() {
            if let Some(mut part) = running.remove(&uid) {
                // As a kubelet asks; whoever does not go is killed.
                let _ = kill_process(Pid::from_child(&part.0), Signal::TERM);
                let asked = Instant::now();
                while part.0.try_wait().unwrap().is_none() && asked.elapsed() < GRACE {
                    std::thread::sleep(LOOK);
                }
            }
            return;
        }
        let is_placed = pod["spec"]["nodeName"].is_string() && pod["status"]["podIP"].is_string();
        if is_placed && !running.contains_key(&uid) {
            running.insert(uid.clone(), self.run(pod, &uid));
        }
    }

    fn run(&self, pod: &Value, uid: &str) -> Part {
        let (spec, address) = (&pod["spec"], pod["status"]["podIP"].as_str().unwrap());
        let container = &spec["containers"][0];
        let id = |key: &str| u32::try_from(spec["securityContext"][key].as_u64().unwrap()).unwrap();
        let (user, group) = (id("runAsUser"), id("runAsGroup"));
        let own = self.0.folder.join(format!("pod-{uid}"));
        let tmp = own.join("tmp");
        fs::create_dir_all(&tmp).unwrap();
        chown(&tmp, Some(user), Some(group)).unwrap();
        let volumes = spec["volumes"].as_array().unwrap();
        let secret =
            volumes.iter().map(|volume| &volume["secret"]).find(|secret| secret.is_object()).unwrap();
        let mode = u32::try_from(secret["defaultMode"].as_u64().unwrap()).unwrap();
        let mounts = container["volumeMounts"].as_array().unwrap();
        let keys_at =
            mounts.iter().find(|mount| mount["name"] == "keys").unwrap()["mountPath"].as_str().unwrap();
        let keys = own.join("keys");
        let secret = self.0.get("secret", secret["secretName"].as_str().unwrap());
        write_files(&secret, &keys, group, mode);
        let placed = |word: &Value| {
            let word = word.as_str().unwrap();
            // All of a pod's addresses are its own; here they are shared.
            word.replace("0.0.0.0", address).replace(keys_at, keys.to_str().unwrap())
        };
        let mut command = self.0.net.command(&program("setpriv").unwrap());
        command.args(["--reuid", &user.to_string(), "--regid", &group.to_string(), "--clear-groups"]);
        command.args(["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"]);
        command
            .arg(self.0.folder.join("prony"))
            .args(container["args"].as_array().unwrap().iter().map(placed));
        let log = File::create(own.join("log")).unwrap();
        command.env("TMPDIR", &tmp).stdout(log.try_clone().unwrap()).stderr(log);
        Part(command.spawn().unwrap())
    }
}
