//! `prony fleet`: agents of this host that stay, and what the agents of a fleet are; and the agents of a load.

mod ending;
mod keys;
mod manifest;

use crate::args::{FleetArgs, FleetCommand, ListFormat, with_flag};
use crate::{exit, interrupt, output};
use anyhow::{Context as _, Result, anyhow, bail};
use generate::GenerateError;
use generate::agents::{Ending, inspect, list as listed};
use plan::{LoadJob, fleet as settings};
use rustix::process::{Pid, Signal, kill_process};
use schema::agents::{AgentState, FleetListFile};
use schema::fleet::{AgentEntry, AgentLink, FleetFile};
use schema::plan::ExperimentPlan;
use schema::text::Problem;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::format::sentence as format;

/// How often `up` looks for Ctrl-C and for agents that ended.
const PAUSE: Duration = Duration::from_millis(100);
/// Time in which agents end by themselves.
const END_MAX: Duration = Duration::from_secs(2);
/// Longest path of a Unix socket (unix(7)).
const SOCKET_PATH_MAX: usize = 107;

pub(crate) fn fleet(args: &FleetArgs) -> Result<u8> {
    match &args.command {
        FleetCommand::Up { agents, folder, allow } => up(*agents, folder.as_deref(), allow),
        FleetCommand::List { fleet, format } => list(fleet, *format),
        FleetCommand::Drain { fleet } => ending::end(fleet, Ending::Drain),
        FleetCommand::Stop { fleet } => ending::end(fleet, Ending::Stop),
        FleetCommand::Keys { folder, agents, hosts, nats, days, add } => {
            let ways = nats.as_deref().map_or(keys::Ways::Hosts(hosts), keys::Ways::Bus);
            match add {
                None => keys::make(folder, agents, ways, *days),
                Some(name) => keys::add(folder, name, ways, *days),
            }
        }
        FleetCommand::Manifest(args) => manifest::manifest(args),
    }
}

/// Puts the agents of `--fleet` into a single load.
pub(crate) fn enlist(job: &mut LoadJob, argument: Option<&str>, connect_to: Option<&str>) -> Result<()> {
    let Some(argument) = argument else { return Ok(()) };
    let fleet = settings::read(argument)?;
    if connect_to.is_some() {
        let cause = "agents connect to where they themselves resolve the URL's host";
        let problem = Problem::at("connect_to", cause, "leave it out, or give the address as the URL");
        return Err(with_flag(problem.into()));
    }
    let enlisted = settings::enlist(&mut job.load, &fleet).and_then(|()| settings::check(job));
    enlisted.map_err(|problem| with_flag(problem.into()))
}

/// Puts the agents of `--fleet` into every cell of an experiment.
pub(crate) fn enlist_all(plan: &mut ExperimentPlan, argument: Option<&str>) -> Result<()> {
    let Some(argument) = argument else { return Ok(()) };
    let fleet = settings::read(argument)?;
    settings::enlist_all(plan, &fleet).map_err(|problem| match problem.key.join(".") {
        argument if argument == "fleet" => with_flag(problem.into()),
        // Other keys are those of the experiment's file.
        key => anyhow!("{key}: {}\n  remedy: {}", problem.cause, problem.remedy),
    })
}

/// Whether a load comes from this host alone, so that what is known of it holds: without a fleet, and by agents that prony
/// starts here.
pub(crate) fn is_of_this_host(argument: Option<&str>) -> Result<bool> {
    let fleet = argument.map(settings::read).transpose()?;
    Ok(fleet.is_none_or(|fleet| fleet.agents.iter().all(|agent| agent.link == AgentLink::Here)))
}

fn list(argument: &str, format: ListFormat) -> Result<u8> {
    let found = listed(&settings::read(argument)?);
    let text = match format {
        ListFormat::Json => schema::json::pretty(&found)?,
        ListFormat::Text => table(&found),
    };
    output::write(None, &text)?;
    let is_whole = found.agents.iter().all(|agent| agent.error.is_none());
    Ok(if is_whole { exit::DONE } else { exit::FAILED })
}

fn table(found: &FleetListFile) -> String {
    let mut text = String::new();
    for agent in &found.agents {
        let (Some(facts), Some(clock)) = (&agent.facts, &agent.clock) else {
            let _ = writeln!(text, "{}", agent.error.as_deref().unwrap_or("nothing is known"));
            continue;
        };
        let memory =
            facts.memory_bytes.map_or_else(|| "memory unknown".to_owned(), |n| format::bytes(n as f64));
        let calibrated = if facts.calibration.is_some() { "calibrated" } else { "not calibrated" };
        let _ = writeln!(
            text,
            "{:<16} {}: {} CPUs, {memory}, Linux {} {}, prony {}, {calibrated}",
            agent.name, facts.host, facts.cpus, facts.kernel, facts.arch, facts.prony
        );
        let _ = writeln!(
            text,
            "{:<16} clock {} ahead, known within {} by the best of {} exchanges",
            "",
            signed(clock.offset_ns),
            format::duration(clock.bound_ns as f64),
            clock.exchanges
        );
        if let Some(note) = facts.kernel_clock.and_then(|clock| clock.note()) {
            let _ = writeln!(text, "{:<16} {note}", "");
        }
        let _ = writeln!(text, "{:<16} {}", "", agent.state.as_ref().map_or_else(String::new, doing));
    }
    text
}

/// What an agent does, in words.
fn doing(state: &AgentState) -> String {
    let ending = if state.is_ending { "ending, " } else { "" };
    match &state.load {
        None => format!("{ending}idle"),
        Some(load) => {
            format!("{ending}busy for {}: {}", format::duration(load.age_ns as f64), load.about)
        }
    }
}

fn signed(ns: i64) -> String {
    let text = format::duration(ns.unsigned_abs() as f64);
    if ns < 0 { format!("-{text}") } else { text }
}

/// Agents of this host; dropping them ends them and removes what was made for them.
struct Up {
    children: Vec<Child>,
    folder: PathBuf,
    /// Whether the folder was made for them.
    is_own: bool,
    files: Vec<PathBuf>,
}

fn up(agents: u32, folder: Option<&Path>, allow: &[String]) -> Result<u8> {
    fleet::Allow::parse(allow).context("--allow")?;
    let stop = interrupt::stop_flag()?;
    let mut up = Up::begin(folder)?;
    let file = up.folder.join("fleet.toml");
    let mut fleet = FleetFile::default();
    for number in 1..=agents {
        let name = format!("agent-{number}");
        let socket = up.folder.join(format!("{name}.sock"));
        up.start(&socket, allow)?;
        let unix = Some(socket.display().to_string());
        fleet.agents.push(AgentEntry { name: Some(name), unix, ..AgentEntry::default() });
    }
    output::write(Some(&file), &text(&fleet))?;
    up.files.push(file.clone());
    let plan = settings::read(&file.display().to_string())?;
    inspect(&plan).map_err(GenerateError::from)?;
    output::write(None, &table(&listed(&plan)))?;
    output::write(None, &format!("prony load --fleet {} URL\n", file.display()))?;
    up.wait(&stop)?;
    Ok(exit::DONE)
}

/// The fleet as a file; its texts are names, addresses and paths without a newline.
fn text(fleet: &FleetFile) -> String {
    let line = |key: &str, value: &Option<String>| {
        let quoted = value.as_ref().map(|value| serde_json::Value::from(value.as_str()));
        quoted.map_or_else(String::new, |value| format!("{key} = {value}\n"))
    };
    let entry = |agent: &AgentEntry| {
        let AgentEntry { name, unix, tcp, nats, tls, .. } = agent;
        let keys = [("name", name), ("unix", unix), ("tcp", tcp), ("nats", nats), ("tls", tls)];
        let lines = keys.map(|(key, value)| line(key, value));
        format!("[[agent]]\n{}", lines.concat())
    };
    fleet.agents.iter().map(entry).collect::<Vec<_>>().join("\n")
}

impl Up {
    fn begin(folder: Option<&Path>) -> Result<Self> {
        let is_own = folder.is_none_or(|folder| !folder.exists());
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => std::env::temp_dir().join(format!("prony-fleet-{}", std::process::id())),
        };
        if is_own {
            // Whoever can reach a socket can order a load.
            let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
            made.with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let folder = folder.canonicalize().with_context(|| format!("cannot use {}", folder.display()))?;
        Ok(Self { children: Vec::new(), folder, is_own, files: Vec::new() })
    }

    fn start(&mut self, socket: &Path, allow: &[String]) -> Result<()> {
        if socket.as_os_str().len() > SOCKET_PATH_MAX {
            bail!("{} is too long for a socket; give a shorter --folder", socket.display());
        }
        let mut child = Command::new("/proc/self/exe")
            .arg0("prony")
            // However this process ends, they end with it.
            .args(["--with-parent", "agent", "--listen", &format!("unix:{}", socket.display())])
            .args(allow.iter().flat_map(|host| ["--allow", host.as_str()]))
            // Ctrl-C reaches this process alone, which ends them.
            .process_group(0)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start an agent")?;
        let said = child.stderr.take();
        self.children.push(child);
        self.files.push(socket.to_owned());
        let mut line = String::new();
        if let Some(said) = said {
            BufReader::new(said).read_line(&mut line)?;
        }
        if !line.starts_with("listening on") {
            bail!("an agent did not start: {}", line.trim());
        }
        Ok(())
    }

    /// Until Ctrl-C; an agent that ends before is an error.
    fn wait(&mut self, stop: &AtomicBool) -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            for (child, number) in self.children.iter_mut().zip(1..) {
                if let Some(status) = child.try_wait()? {
                    bail!("agent {number} ended ({status}); the others were ended, too");
                }
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // One that ends by itself removes the files of its loads.
        for child in &self.children {
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        let since = Instant::now();
        for child in &mut self.children {
            while since.elapsed() < END_MAX && matches!(child.try_wait(), Ok(None)) {
                std::thread::sleep(PAUSE);
            }
            // Changes nothing for one that has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
        if self.is_own {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}
