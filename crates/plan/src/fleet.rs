//! The agents of a load: read from `--fleet`, checked, and put into the plan; and what a fleet cannot make.
//!
//! Absent on purpose: reaching an agent (generate), and what an agent itself refuses.

use crate::error::PlanError;
use crate::job::LoadJob;
use schema::fleet::{AgentEntry, AgentLink, AgentPlan, FleetFile, FleetPlan};
use schema::plan::{ExperimentPlan, LoadPlan};
use schema::text::{Problem, parse_toml};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

/// Most agents of a fleet. More than were tried would be a promise without a measurement.
const AGENTS_MAX: usize = 1_000;
/// Most that prony starts on this host by itself: each has a generator process.
const HERE_MAX: usize = 200;
/// Longest name of an agent, which stands in tables.
const NAME_MAX: usize = 64;
/// Why these are refused.
const OF_A_SCRIPT: &str = "a script runs in one process";
const OF_ITS_NETWORK: &str = "the generator's network of its own is on one machine";

/// What `--fleet` says: a number of agents on this host, or a file that names them.
///
/// # Errors
/// A number out of range, a file that cannot be read, and every mistake in it with its line.
pub fn read(argument: &str) -> Result<FleetPlan, PlanError> {
    if argument.bytes().all(|byte| byte.is_ascii_digit()) && !argument.is_empty() {
        let here = |n| AgentEntry { name: Some(format!("here-{n}")), here: true, ..AgentEntry::default() };
        let count = argument.parse().unwrap_or(usize::MAX);
        if !(1..=HERE_MAX).contains(&count) {
            let cause = format!("a fleet of {argument} agents on this host");
            let remedy =
                format!("give from 1 to {HERE_MAX} agents, or a file that names more on other hosts");
            return Err(Problem::at("agent", cause, remedy).locate("--fleet", "").into());
        }
        let file = FleetFile { agents: (1..=count).map(here).collect() };
        return resolve(&file, Path::new("")).map_err(|problem| problem.locate("--fleet", "").into());
    }
    let path = Path::new(argument);
    let text = std::fs::read_to_string(path).map_err(PlanError::io("read the fleet of", path))?;
    let file: FleetFile = parse_toml(argument, &text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    resolve(&file, folder).map_err(|problem| problem.locate(argument, &text).into())
}

/// Paths of keys are from `folder` on.
fn resolve(file: &FleetFile, folder: &Path) -> Result<FleetPlan, Problem> {
    if !(1..=AGENTS_MAX).contains(&file.agents.len()) {
        let cause = format!("a fleet of {} agents", file.agents.len());
        return Err(Problem::at("agent", cause, format!("give from 1 to {AGENTS_MAX} agents")));
    }
    let mut names = BTreeSet::new();
    let mut agents = Vec::new();
    for (place, entry) in file.agents.iter().enumerate() {
        let at = |key: &str| format!("agent.{place}.{key}");
        let name = entry.name.clone().unwrap_or_else(|| format!("agent-{}", place + 1));
        if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(is_of_name) {
            let remedy = format!("give up to {NAME_MAX} letters, digits, dots, `-` and `_`");
            return Err(Problem::at(&at("name"), format!("`{name}` is no name of an agent"), remedy));
        }
        if !names.insert(name.clone()) {
            let cause = format!("two agents are called {name}");
            return Err(Problem::at(&at("name"), cause, "give each a name of its own"));
        }
        agents.push(AgentPlan { name, link: link(entry, place, folder)? });
    }
    Ok(FleetPlan { agents })
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}

fn link(entry: &AgentEntry, place: usize, folder: &Path) -> Result<AgentLink, Problem> {
    let at = |key: &str| format!("agent.{place}.{key}");
    if let Some(keys) = &entry.tls {
        return with_keys(entry, place, folder, keys);
    }
    if entry.nats.is_some() {
        let cause = "whoever reaches the bus could order loads";
        return Err(Problem::at(&at("nats"), cause, "give tls = \"FOLDER\" with keys of `prony fleet keys`"));
    }
    match (entry.here, &entry.command, &entry.unix, &entry.tcp) {
        (true, None, None, None) => Ok(AgentLink::Here),
        (false, Some(command), None, None) if command.first().is_some_and(|program| !program.is_empty()) => {
            Ok(AgentLink::Command { command: command.clone() })
        }
        (false, Some(_), None, None) => Err(Problem::at(
            &at("command"),
            "the command is empty",
            "write for example [\"ssh\", \"host\", \"prony\", \"agent\", \"--stdio\"]",
        )),
        (false, None, Some(path), None) if !path.is_empty() => Ok(AgentLink::Unix { path: path.clone() }),
        (false, None, None, Some(text)) => {
            let address = text.parse::<SocketAddr>().map_err(|_| {
                let cause = format!("`{text}` is no address with a port");
                Problem::at(&at("tcp"), cause, "write for example 127.0.0.1:7411")
            })?;
            if !address.ip().is_loopback() {
                let cause =
                    format!("{address} is another host, and the stream would be neither secret nor signed");
                let remedy = "give tls = \"FOLDER\" with keys of `prony fleet keys`, or reach it by `command` over ssh";
                return Err(Problem::at(&at("tcp"), cause, remedy));
            }
            Ok(AgentLink::Tcp { address: address.to_string() })
        }
        _ => Err(said_twice(place)),
    }
}

/// An agent that shows a certificate, over a stream of its own or through a bus.
fn with_keys(entry: &AgentEntry, place: usize, folder: &Path, keys: &str) -> Result<AgentLink, Problem> {
    let at = |key: &str| format!("agent.{place}.{key}");
    let keys = std::path::absolute(folder.join(keys)).unwrap_or_else(|_| folder.join(keys));
    let keys = keys.display().to_string();
    let alone = AgentEntry { tls: None, tcp: None, nats: None, ..entry.clone() };
    let is_said_once = alone == AgentEntry { name: entry.name.clone(), ..AgentEntry::default() };
    match (&entry.tcp, &entry.nats) {
        (Some(address), None) if is_said_once => {
            if !is_host_and_port(address) {
                let cause = format!("`{address}` is no host with a port");
                return Err(Problem::at(&at("tcp"), cause, "write for example load-1.internal:7411"));
            }
            Ok(AgentLink::Tls { address: address.clone(), keys })
        }
        (None, Some(server)) if is_said_once => {
            check_bus(server, &at("nats"))?;
            Ok(AgentLink::Nats { server: server.clone(), keys })
        }
        (None, None) => {
            let remedy = "give tcp = \"HOST:PORT\" or nats = \"nats://HOST:PORT\" with it, or leave it out";
            Err(Problem::at(&at("tls"), "keys are for streams over TCP or NATS", remedy))
        }
        _ => Err(said_twice(place)),
    }
}

/// Whether a text is `nats://HOST:PORT` or `tls://HOST:PORT`. A password has no place in it: files of results keep it.
///
/// # Errors
/// At `key`: it is none of them.
pub fn check_bus(text: &str, key: &str) -> Result<(), Problem> {
    let rest = text.strip_prefix("nats://").or_else(|| text.strip_prefix("tls://"));
    if rest.is_some_and(is_host_and_port) {
        return Ok(());
    }
    let remedy = "write for example nats://bus.internal:4222; a user and a password stand in nats.toml beside the keys";
    Err(Problem::at(key, format!("`{text}` is no address of a NATS server"), remedy))
}

fn said_twice(place: usize) -> Problem {
    Problem::at(
        &format!("agent.{place}"),
        "how the agent is reached is not said, or said twice",
        "give exactly one of here = true, command, unix, tcp and nats",
    )
}

/// Whether a text is `HOST:PORT`, an address of IPv6 in brackets.
#[must_use]
pub fn is_host_and_port(text: &str) -> bool {
    let is_of_host = |byte: u8| is_of_name(byte) || matches!(byte, b'[' | b']' | b':');
    text.rsplit_once(':').is_some_and(|(host, port)| {
        let is_address = !host.contains(':') || text.parse::<SocketAddr>().is_ok();
        !host.is_empty() && host.bytes().all(is_of_host) && is_address && port.parse::<u16>().is_ok()
    })
}

/// Lets agents make a load: each has the same number of workers, at least one.
///
/// # Errors
/// Fewer connections than agents.
pub fn enlist(load: &mut LoadPlan, fleet: &FleetPlan) -> Result<(), Problem> {
    let agents = fleet.agents.len() as u32;
    if load.connections < agents {
        let cause = format!("{agents} agents cannot share {} connections", load.connections);
        return Err(Problem::at("fleet", cause, "give at least one connection an agent, or fewer agents"));
    }
    load.workers = load.workers.max(1).next_multiple_of(agents).min(load.connections);
    // Each agent takes as many as its own limit of descriptors needs.
    load.processes = 1;
    load.fleet = Some(fleet.clone());
    Ok(())
}

/// [`enlist`] for every cell of an experiment.
///
/// # Errors
/// As [`enlist`]; what [`check_load`] refuses; scripts, and a network of the generator's own.
pub fn enlist_all(plan: &mut ExperimentPlan, fleet: &FleetPlan) -> Result<(), Problem> {
    refuse(&[
        ("scenario.script", plan.scenarios.iter().any(|scenario| scenario.script.is_some()), OF_A_SCRIPT),
        ("limits.generator", plan.cells.iter().any(|cell| cell.limits.generator.is_some()), OF_ITS_NETWORK),
    ])?;
    for cell in &mut plan.cells {
        enlist(&mut cell.load, fleet)?;
        check_load(&cell.load)?;
    }
    Ok(())
}

/// Refuses settings of a load that mean something on one machine only.
///
/// # Errors
/// The first of them.
pub fn check_load(load: &LoadPlan) -> Result<(), Problem> {
    let own = &load.connection;
    let given = [
        ("load.connection.unix_socket", own.unix_socket.is_some(), "a Unix socket is on one machine"),
        ("load.connection.device", own.device.is_some(), "a network device is of one machine"),
        ("load.connection.resolve", own.resolve_each, "agents resolve the name once, before the load"),
    ];
    refuse(&given)
}

/// As [`check_load`], of all of a single load.
///
/// # Errors
/// The first of them.
pub fn check(job: &LoadJob) -> Result<(), Problem> {
    let is_free = |address: &std::net::IpAddr| address.is_loopback();
    check_load(&job.load)?;
    refuse(&[
        ("script", job.scenario.script.is_some(), OF_A_SCRIPT),
        ("each", job.each.is_some(), "rows of single requests are not gathered from agents"),
        ("proxy", job.proxy.is_some(), "agents make no tunnels; NO_PROXY leaves out that of the environment"),
        (
            "load.connection.sources",
            !job.load.connection.sources.iter().all(is_free),
            "source addresses are of one machine",
        ),
        ("limits", job.network.is_some(), OF_ITS_NETWORK),
    ])
}

fn refuse(given: &[(&str, bool, &str)]) -> Result<(), Problem> {
    match given.iter().find(|(_, is_given, _)| *is_given) {
        None => Ok(()),
        Some((key, _, why)) => {
            Err(Problem::at(key, format!("a fleet cannot: {why}"), "leave it out, or leave out --fleet"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;
    use schema::limits::GeneratorPlan;
    use schema::plan::ScriptPlan;

    fn of(text: &str) -> Result<FleetPlan, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.toml");
        std::fs::write(&path, text).unwrap();
        read(path.to_str().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_so_many_agents_here() {
        let fleet = read("3").unwrap();
        let names: Vec<_> = fleet.agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["here-1", "here-2", "here-3"]);
        assert!(fleet.agents.iter().all(|agent| agent.link == AgentLink::Here));
        for wrong in ["0", "201", "99999999999999999999999"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("from 1 to 200"), "{error}");
        }
        assert!(read("/nonexistent/fleet.toml").unwrap_err().to_string().contains("/nonexistent/fleet.toml"));
    }

    #[test]
    fn a_file_names_each_agent_and_the_way_to_it() {
        let text = "[[agent]]\nhere = true\n[[agent]]\nname = \"b\"\ncommand = [\"ssh\", \"b\", \"prony\"]\n\
                    [[agent]]\nunix = \"/run/c.sock\"\n[[agent]]\ntcp = \"[::1]:7\"\n";
        let fleet = of(text).unwrap();
        let names: Vec<_> = fleet.agents.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["agent-1", "b", "agent-3", "agent-4"]);
        assert_eq!(fleet.agents[3].link, AgentLink::Tcp { address: "[::1]:7".to_owned() });
    }

    #[test]
    fn keys_are_found_from_the_file_on() {
        let fleet =
            of("[[agent]]\nname = \"a\"\ntcp = \"load-1.internal:7411\"\ntls = \"controller\"\n").unwrap();
        let AgentLink::Tls { address, keys } = &fleet.agents[0].link else { panic!("{fleet:?}") };
        assert_eq!(address, "load-1.internal:7411");
        let keys = Path::new(keys);
        assert!(keys.is_absolute() && keys.ends_with("controller"), "{keys:?}");
        assert!(of("[[agent]]\ntcp = \"[2001:db8::1]:7\"\ntls = \"/k\"\n").is_ok());
    }

    #[test]
    fn mistakes_come_with_their_line_and_the_remedy() {
        for (text, parts) in [
            ("", ["a fleet of 0 agents", "from 1 to 1000"]),
            (
                "[[agent]]\nname = \"a\"\nhere = true\n[[agent]]\nname = \"a\"\nhere = true\n",
                [":5:", "two agents"],
            ),
            ("[[agent]]\nname = \"a b\"\nhere = true\n", [":2:", "is no name"]),
            ("[[agent]]\nname = \"a\"\n", ["fleet.toml:", "exactly one of"]),
            ("[[agent]]\nhere = true\nunix = \"/x\"\n", ["fleet.toml:", "exactly one of"]),
            ("[[agent]]\ncommand = []\n", [":2:", "the command is empty"]),
            ("[[agent]]\ntcp = \"h:1\"\n", [":2:", "127.0.0.1:7411"]),
            ("[[agent]]\ntcp = \"10.0.0.1:7\"\n", [":2:", "`prony fleet keys`"]),
            ("[[agent]]\ntls = \"k\"\nunix = \"/x\"\n", [":2:", "give tcp"]),
            ("[[agent]]\ntls = \"k\"\ntcp = \"h\"\n", [":3:", "load-1.internal:7411"]),
            ("[[agent]]\ntls = \"k\"\ntcp = \"fe80::1:x\"\n", [":3:", "load-1.internal:7411"]),
            ("[[agent]]\ntls = \"k\"\ntcp = \"h:1\"\nhere = true\n", ["fleet.toml:", "exactly one of"]),
            ("[[agent]]\nheer = true\n", [":2:", "did you mean `here`"]),
        ] {
            let error = of(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }

    #[test]
    fn every_agent_gets_as_many_workers_and_at_least_one() {
        let fleet = read("4").unwrap();
        for (connections, workers, shared) in [(64, 1, 4), (64, 4, 4), (64, 5, 8), (5, 7, 5), (4, 1, 4)] {
            let mut load = LoadPlan { connections, workers, ..LoadPlan::default() };
            enlist(&mut load, &fleet).unwrap();
            assert_eq!(load.workers, shared, "{connections} connections, {workers} workers");
        }
        let mut load = LoadPlan { connections: 3, workers: 1, ..LoadPlan::default() };
        assert!(enlist(&mut load, &fleet).unwrap_err().cause.contains("cannot share 3"));
    }

    #[test]
    fn every_cell_of_an_experiment_is_enlisted_or_all_are_refused() {
        let text = "[experiment]\nname = \"x\"\n[[target]]\nurl = \"http://127.0.0.1:1\"\n[scenario]\n\
                    request = { path = \"/\" }\n[load]\nmodel = \"closed\"\nconnections = [2, 64]\n";
        let context =
            Context { project: std::env::temp_dir(), usable_cpus: vec![0], pin: Some("off".to_owned()) };
        let plan = || crate::experiment("x.toml", text, &context).unwrap();
        let fleet = read("2").unwrap();
        let mut good = plan();
        enlist_all(&mut good, &fleet).unwrap();
        assert!(good.cells.iter().all(|cell| cell.load.fleet.is_some() && cell.load.workers % 2 == 0));
        let mut apart = plan();
        apart.cells[1].limits.generator = Some(GeneratorPlan::default());
        let mut scripted = plan();
        scripted.scenarios[0].script = Some(ScriptPlan::default());
        for (mut wrong, agents, key) in
            [(apart, "2", "limits.generator"), (scripted, "2", "scenario.script"), (plan(), "3", "fleet")]
        {
            let problem = enlist_all(&mut wrong, &read(agents).unwrap()).unwrap_err();
            assert_eq!(problem.key.join("."), key);
            assert!(!problem.remedy.is_empty(), "{problem:?}");
        }
    }

    #[test]
    fn what_is_of_one_machine_is_refused() {
        let mut load = LoadPlan::default();
        assert!(check_load(&load).is_ok());
        load.connection.device = Some("eth0".to_owned());
        assert_eq!(check_load(&load).unwrap_err().key.join("."), "load.connection.device");
    }
}
