//! From a plan to a running, answering target.
//!
//! Invariants: the target listens on 127.0.0.1 at a port that was free just before, or in a network of its own; it is
//! handed out only after a good answer; on every error path its processes are gone before the error is returned.

use crate::confine::{ServicePlace, Subnet, Subnets, Wanted};
use crate::guard::{Ending, Finish, Guard, Spec};
use crate::ready::{Unready, await_ready};
use crate::template::Values;
use crate::{RunningTarget, TargetError, knobs, pin, program};
use schema::limits::{LimitsPlan, NetworkMode};
use schema::said;
use schema::said::Said;
use schema::target::{Ready, Stop, TargetManifest};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

/// `{host}` of a target on the host's network.
const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Starts, each with another port, before a taken port is an error.
const ATTEMPTS: u32 = 3;

/// How servers in C, Go, Java, Node.js, Python and Rust word EADDRINUSE, in lower case.
const TAKEN: [&str; 3] = ["address already in use", "eaddrinuse", "address in use"];

/// All that is needed to start one target once.
#[derive(Clone, Debug)]
pub struct StartPlan {
    /// Program and arguments; `{host}`, `{port}`, `{build}` and `{folder}` are replaced.
    pub command: Vec<String>,
    /// Added to the inherited environment; values are replaced likewise.
    pub env: BTreeMap<String, String>,
    /// Working directory and `{folder}`. The caller's own where absent.
    pub folder: Option<PathBuf>,
    /// `{build}`; absent where nothing is built.
    pub build: Option<PathBuf>,
    /// When it counts as ready. Default: a TCP connection is accepted within 10 s.
    pub ready: Ready,
    /// How it is stopped. Default: TERM, killed after 5 s.
    pub stop: Stop,
    /// CPUs that it may use; as the caller where absent.
    pub cpus: Option<Vec<u32>>,
    /// What it is confined to besides.
    pub limits: LimitsPlan,
    /// Services in networks of their own that it must reach where its own is isolated.
    pub services: Vec<ServicePlace>,
    /// Takes its stdout and stderr; emptied first.
    pub log: PathBuf,
    /// prony's own binary, which becomes the guard.
    pub launcher: PathBuf,
}

impl StartPlan {
    /// From a manifest in `folder` with every knob at its default; `env` is laid over the manifest's own.
    #[must_use]
    pub fn from_manifest(
        manifest: &TargetManifest,
        folder: &Path,
        env: &BTreeMap<String, String>,
        log: &Path,
        launcher: &Path,
    ) -> Self {
        let defaults = knobs::defaults(manifest);
        let mut merged = manifest.run.env.clone();
        merged.extend(knobs::run_env(manifest, &defaults));
        merged.extend(env.iter().map(|(name, value)| (name.clone(), value.clone())));
        Self {
            env: merged,
            folder: Some(folder.to_owned()),
            build: Some(knobs::build_folder(folder, manifest, &defaults)),
            ready: manifest.ready.clone(),
            stop: manifest.stop.clone(),
            ..Self::from_command(&manifest.run.command, log, launcher)
        }
    }

    /// The same with these values of the manifest's knobs, and only these. A variable of a knob is the knob's alone.
    #[must_use]
    pub fn with_knobs(mut self, manifest: &TargetManifest, folder: &Path, values: &knobs::Values) -> Self {
        for variable in manifest.knob.iter().filter_map(|knob| knob.env.as_ref()) {
            self.env.remove(variable);
        }
        self.env.extend(knobs::run_env(manifest, values));
        self.build = Some(knobs::build_folder(folder, manifest, values));
        self
    }

    /// From a bare command with every setting at its default; set the fields that differ.
    #[must_use]
    pub fn from_command(command: &[String], log: &Path, launcher: &Path) -> Self {
        Self {
            command: command.to_vec(),
            env: BTreeMap::new(),
            folder: None,
            build: None,
            ready: Ready::default(),
            stop: Stop::default(),
            cpus: None,
            limits: LimitsPlan::default(),
            services: Vec::new(),
            log: log.to_owned(),
            launcher: launcher.to_owned(),
        }
    }

    fn check(&self) -> Result<(), TargetError> {
        let texts = || self.command.iter().chain(self.env.values());
        if self.command.first().is_none_or(String::is_empty) {
            return Err(TargetError::plan(
                "the target's command is empty",
                "give the program and its arguments",
            ));
        }
        if !texts().any(|text| text.contains("{port}")) {
            return Err(TargetError::plan(
                format!("neither the command `{}` nor its env has {{port}}", self.command.join(" ")),
                "prony chooses the port; put {port} where the target takes it, or use `url` for one that runs",
            ));
        }
        if self.build.is_none() && texts().any(|text| text.contains("{build}")) {
            return Err(TargetError::plan(
                "{build} is used without a target folder",
                "name the program itself",
            ));
        }
        if let Some(cpus) = &self.cpus {
            pin::check_confinable(cpus).map_err(|error| {
                TargetError::plan(format!("the target cannot be confined: {error}"), "correct --pin")
            })?;
        }
        Ok(())
    }

    /// What the guard is given, with the port filled in.
    fn spec(&self, addr: SocketAddr) -> Spec {
        let host = addr.ip().to_string();
        let port = addr.port().to_string();
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let (build, folder) = (shown(&self.build), shown(&self.folder));
        let values = Values {
            host: Some(&host),
            port: Some(&port),
            build: build.as_deref(),
            folder: folder.as_deref(),
        };
        Spec {
            command: self.command.iter().map(|text| values.fill(text)).collect(),
            env: self.env.iter().map(|(name, value)| (name.clone(), values.fill(value))).collect(),
            folder: self.folder.clone(),
            cpus: self.cpus.clone(),
            confine: None,
            join: None,
            log: self.log.clone(),
            ending: Ending::from(&self.stop),
        }
    }
}

/// Starts a target and waits until it is ready.
///
/// # Errors
/// The plan cannot be carried out, the program is missing, the target ends early or is not ready in time (both with
/// the end of its log), or it finds three ports in a row taken. No process of it is left then.
pub fn start(plan: StartPlan) -> Result<RunningTarget, TargetError> {
    plan.check()?;
    File::create(&plan.log)
        .map_err(|error| TargetError::io(format!("write the log {}", plan.log.display()), error))?;
    let mut attempt = 1;
    let (mut plan, mut weaknesses) = (plan, Vec::new());
    loop {
        match try_start(&plan, &weaknesses) {
            Err(TargetError::NoNetwork { cause }) if plan.limits.is_isolated() => {
                weaknesses.push(said!(
                    "weakness.no_network",
                    "the target has no network of its own, but the host's, with its ports and settings: {cause}",
                    cause = Said::from(cause)
                ));
                plan.limits = on_the_host(plan.limits);
            }
            Err(TargetError::PortTaken { .. }) if attempt < ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

/// The same limits without those of an isolated network.
fn on_the_host(limits: LimitsPlan) -> LimitsPlan {
    LimitsPlan {
        cpus: limits.cpus,
        memory_bytes: limits.memory_bytes,
        swap: limits.swap,
        memory_lock: limits.memory_lock,
        network: NetworkMode::Host,
        ..LimitsPlan::default()
    }
}

fn try_start(plan: &StartPlan, weaknesses: &[Said]) -> Result<RunningTarget, TargetError> {
    let subnets = if plan.limits.is_isolated() {
        Some(Subnets::free(plan.services.len()).map_err(|cause| TargetError::NoNetwork { cause })?)
    } else {
        None
    };
    let addr = match &subnets {
        Some(subnets) => SocketAddr::from((subnets.host.target(), Subnet::port())),
        None => free_port()?,
    };
    let mut spec = plan.spec(addr);
    if !plan.limits.is_none() || !weaknesses.is_empty() {
        spec.confine = Some(Wanted {
            limits: plan.limits.clone(),
            cpus: plan.cpus.clone(),
            subnets,
            services: plan.services.clone(),
            weaknesses: weaknesses.to_vec(),
        });
    }
    let path = spec.env.get("PATH").map(String::as_str);
    if program::find(&spec.command[0], spec.folder.as_deref(), path).is_none() {
        return Err(not_found(plan, &spec.command[0]));
    }
    let log_before = std::fs::metadata(&plan.log).map_or(0, |facts| facts.len());
    let mut guard = Guard::launch(&plan.launcher, &spec)?;
    match await_ready(&guard, &plan.ready, addr) {
        Ok(ready_ns) => Ok(RunningTarget::new(guard, addr, plan.ready.clone(), ready_ns)),
        Err(fault) => {
            let finish = guard.end();
            let error = explain(&guard, fault, addr, &plan.log, log_before);
            match finish {
                Finish::Gone => Err(error),
                Finish::Left(pids) => Err(TargetError::Survivors { pids }),
                Finish::Lost(cause) => Err(guard.lost(cause)),
            }
        }
    }
}

fn not_found(plan: &StartPlan, program: &str) -> TargetError {
    let remedy = if plan.command[0].contains("{build}") {
        "build the target first; its build must leave the program there"
    } else {
        "install it, or correct the target's command"
    };
    TargetError::ProgramNotFound { program: program.to_owned(), remedy: remedy.to_owned() }
}

fn explain(guard: &Guard, fault: Unready, addr: SocketAddr, log: &Path, log_before: u64) -> TargetError {
    if let Some(error) = crate::running::out_of_memory(guard) {
        return error;
    }
    let (command, tail) = (guard.shown(), guard.tail());
    match (fault, guard.exit()) {
        (Unready::TimedOut { timeout, last }, _) => TargetError::NotReady { timeout, addr, last, tail },
        (Unready::Ended, Some(_)) if port_was_taken(addr, log, log_before) => {
            TargetError::PortTaken { attempts: ATTEMPTS, command, tail }
        }
        (Unready::Ended, Some(exit)) => TargetError::EndedEarly { command, exit, tail },
        (Unready::Ended, None) => guard.lost("it ended while the target was starting".to_owned()),
    }
}

/// Whether somebody else has the port, or this attempt's part of the log says so.
fn port_was_taken(addr: SocketAddr, log: &Path, log_before: u64) -> bool {
    let taken = TcpListener::bind(addr).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
    taken || {
        let said = log_since(log, log_before).unwrap_or_default().to_lowercase();
        TAKEN.iter().any(|text| said.contains(text))
    }
}

fn log_since(log: &Path, offset: u64) -> io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(64 * 1024).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// First port and number of ports below the range from which systems give out ports.
const FALLBACK_PORTS: (u16, u16) = (20_000, 12_000);
/// Ports of them that are tried.
const FALLBACK_TRIES: u16 = 64;

/// A port that the system holds free at this moment.
fn free_port() -> Result<SocketAddr, TargetError> {
    let bind = |port: u16| TcpListener::bind((HOST, port)).and_then(|listener| listener.local_addr());
    // A load of many connections leaves the range that the system gives out full of ended ones for a minute.
    let first = std::process::id() as u16 % FALLBACK_PORTS.1;
    let mut others =
        (0..FALLBACK_TRIES).map(|step| FALLBACK_PORTS.0 + (first + step * 61) % FALLBACK_PORTS.1);
    bind(0)
        .or_else(|error| others.find_map(|port| bind(port).ok()).ok_or(error))
        .map_err(|error| TargetError::io("get a free port on 127.0.0.1", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(command: &[&str]) -> StartPlan {
        let command: Vec<String> = command.iter().map(|text| (*text).to_owned()).collect();
        StartPlan::from_command(&command, Path::new("/nowhere/t.log"), Path::new("/nowhere/prony"))
    }

    #[test]
    fn a_plan_that_cannot_work_is_refused_before_anything_starts() {
        let too_many = StartPlan { cpus: Some(vec![4096]), ..plan(&["s", "{port}"]) };
        for (plan, expected) in [
            (plan(&[]), "the target's command is empty"),
            (plan(&["serve", "80"]), "has {port}"),
            (plan(&["{build}/s", "{port}"]), "{build} is used without a target folder"),
            (too_many, "the target cannot be confined"),
        ] {
            let text = start(plan).expect_err(expected).to_string();
            assert!(text.contains(expected) && text.contains("remedy"), "{text}");
        }
    }

    #[test]
    fn a_manifest_becomes_a_filled_command() {
        let text = "schema = \"prony.target/1\"\nname = \"x\"\ndescription = \"d\"\nlanguage = \"l\"\n[run]\n\
                    command = [\"{build}/s\"]\nenv = { LISTEN = \"{host}:{port}\", MODE = \"a\", INI = \"{folder}/i\" }\n[stop]\n\
                    signal = \"INT\"\n[[knob]]\nname = \"gogc\"\nabout = \"a\"\ntype = \"integer\"\n\
                    default = \"100\"\nenv = \"GOGC\"\n[[knob]]\nname = \"tags\"\nabout = \"a\"\n\
                    type = \"text\"\nbuild_env = \"TAGS\"\n";
        let manifest: TargetManifest = schema::text::parse_toml("t", text).unwrap();
        let env = BTreeMap::from([("MODE".to_owned(), "b".to_owned())]);
        let plan =
            StartPlan::from_manifest(&manifest, Path::new("/t"), &env, Path::new("/l"), Path::new("/p"));
        let spec = plan.spec(SocketAddr::from((HOST, 81)));
        assert_eq!(spec.command, ["/t/.build/s"]);
        assert_eq!((spec.env["LISTEN"].as_str(), spec.env["MODE"].as_str()), ("127.0.0.1:81", "b"));
        assert_eq!((spec.env["INI"].as_str(), spec.env["GOGC"].as_str()), ("/t/i", "100"));
        assert_eq!(spec.ending.to_string(), "stop INT 5000");
        let values = knobs::Values::from([("tags".to_owned(), "x".to_owned())]);
        let spec = plan.with_knobs(&manifest, Path::new("/t"), &values).spec(SocketAddr::from((HOST, 81)));
        assert_eq!(spec.command, ["/t/.build/tags=x/s"]);
        assert!(!spec.env.contains_key("GOGC"), "a knob without a value is not set");
    }
}
