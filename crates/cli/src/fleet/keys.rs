//! `prony fleet keys`: a folder with all that a fleet needs to trust itself.
//!
//! ```text
//! FOLDER/authority.key   signs; needed for --add only, and worth the whole fleet
//!        fleet.toml      for --fleet
//!        controller/     authority.pem, certificate.pem, key.pem
//!        agents/NAME/    the same; to be copied to the agent's host
//! ```
//!
//! Invariants: only the owner reads keys; nothing that is there is written over; a folder is there whole or not at all.

use super::text;
use crate::args::with_flag;
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use fleet::{AUTHORITY_FILE, Authority, CERTIFICATE_FILE, KEY_FILE, KeyPairText, Role, check_name};
use schema::fleet::{AgentEntry, FleetFile};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The port of an agent whose host is given without one.
pub(super) const PORT: u16 = 7411;
/// Names within the folder.
const CONTROLLER: &str = "controller";
const AGENTS: &str = "agents";
const AUTHORITY_KEY: &str = "authority.key";
pub(super) const FLEET: &str = "fleet.toml";

/// How agents are reached.
#[derive(Clone, Copy)]
pub(super) enum Ways<'a> {
    /// Each by its host, in order, with or without a port; none: by their names.
    Hosts(&'a [String]),
    /// Through the NATS server that they all join.
    Bus(&'a str),
}

/// Makes a fleet's folder.
pub(super) fn make(folder: &Path, names: &[String], ways: Ways<'_>, days: u32) -> Result<u8> {
    let entries = entries(names, ways)?;
    if fs::read_dir(folder).is_ok_and(|mut found| found.next().is_some()) {
        bail!(
            "{} is there already, and keys are never written over\n  remedy: give another folder, or --add NAME for one \
             agent more",
            folder.display()
        );
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let only_owner = fs::Permissions::from_mode(0o700);
    let whole = tempfile::Builder::new().prefix(".prony-keys-").permissions(only_owner).tempdir_in(parent);
    let whole = whole.with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let written = text(&FleetFile { agents: entries.clone() });
    fill(whole.path(), &entries, &written, days).context("cannot write the keys")?;
    fs::rename(whole.keep(), folder).with_context(|| format!("cannot make {}", folder.display()))?;
    output::write(None, &report(folder, &entries, &written, days))?;
    Ok(exit::DONE)
}

fn fill(folder: &Path, entries: &[AgentEntry], fleet: &str, days: u32) -> Result<()> {
    let now = since_epoch();
    let (authority, text) = Authority::new(now)?;
    write(&folder.join(AUTHORITY_KEY), &text.key)?;
    write(&folder.join(AUTHORITY_FILE), &text.certificate)?;
    write(&folder.join(FLEET), fleet)?;
    let controller = authority.sign(Role::Controller, now, days)?;
    fill_one(&folder.join(CONTROLLER), &text.certificate, &controller)?;
    make_folder(&folder.join(AGENTS))?;
    for name in entries.iter().filter_map(|entry| entry.name.as_deref()) {
        let pair = authority.sign(Role::Agent(name), now, days)?;
        fill_one(&folder.join(AGENTS).join(name), &text.certificate, &pair)?;
    }
    Ok(())
}

/// Adds an agent to a fleet's folder, and to its fleet file.
pub(super) fn add(folder: &Path, name: &str, ways: Ways<'_>, days: u32) -> Result<u8> {
    let entries = entries(&[name.to_owned()], ways)?;
    let read = |file: &str| {
        let path = folder.join(file);
        fs::read_to_string(&path).with_context(|| {
            format!("cannot read {}; give a folder that `prony fleet keys` made", path.display())
        })
    };
    let authority = Authority::read(&read(AUTHORITY_KEY)?)
        .with_context(|| format!("cannot use {}", folder.join(AUTHORITY_KEY).display()))?;
    let (certificate, before) = (read(AUTHORITY_FILE)?, read(FLEET)?);
    let own = folder.join(AGENTS).join(name);
    if own.exists() {
        bail!(
            "agent {name} has keys already, which are never written over\n  remedy: give another name, or remove {} first",
            own.display()
        );
    }
    let pair = authority.sign(Role::Agent(name), since_epoch(), days)?;
    fill_one(&own, &certificate, &pair).context("cannot write the keys")?;
    let written = text(&FleetFile { agents: entries.clone() });
    let is_named = plan::fleet::read(&folder.join(FLEET).display().to_string())
        .is_ok_and(|fleet| fleet.agents.iter().any(|agent| agent.name == name));
    if !is_named {
        let gap = if before.ends_with("\n\n") || before.is_empty() { "" } else { "\n" };
        let mut file = OpenOptions::new().append(true).open(folder.join(FLEET))?;
        file.write_all(format!("{gap}{written}").as_bytes())?;
    }
    output::write(None, &report(folder, &entries, &written, days))?;
    Ok(exit::DONE)
}

/// The entries of the fleet file, checked.
fn entries(names: &[String], ways: Ways<'_>) -> Result<Vec<AgentEntry>> {
    let hosts = match ways {
        Ways::Hosts(hosts) => hosts,
        Ways::Bus(server) => {
            plan::fleet::check_bus(server, "nats").map_err(|problem| with_flag(problem.into()))?;
            &[]
        }
    };
    if !hosts.is_empty() && hosts.len() != names.len() {
        bail!(
            "{} agents and {} hosts\n  remedy: give one host for each agent, in the same order",
            names.len(),
            hosts.len()
        );
    }
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for (place, name) in names.iter().enumerate() {
        check_name(name)?;
        if !seen.insert(name) {
            bail!("two agents are called {name}\n  remedy: give each a name of its own");
        }
        let (tcp, nats) = match ways {
            Ways::Hosts(_) => (Some(address(hosts.get(place).unwrap_or(name))?), None),
            Ways::Bus(server) => (None, Some(server.to_owned())),
        };
        let (name, tls) = (Some(name.clone()), Some(CONTROLLER.to_owned()));
        entries.push(AgentEntry { name, tcp, nats, tls, ..AgentEntry::default() });
    }
    Ok(entries)
}

fn address(host: &str) -> Result<String> {
    let address = if host.contains(':') { host.to_owned() } else { format!("{host}:{PORT}") };
    if !plan::fleet::is_host_and_port(&address) {
        bail!("`{host}` is no host with a port\n  remedy: write for example load-1.internal:{PORT}");
    }
    Ok(address)
}

fn fill_one(folder: &Path, authority: &str, pair: &KeyPairText) -> Result<()> {
    make_folder(folder)?;
    write(&folder.join(AUTHORITY_FILE), authority)?;
    write(&folder.join(CERTIFICATE_FILE), &pair.certificate)?;
    write(&folder.join(KEY_FILE), &pair.key)
}

fn make_folder(path: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.with_context(|| format!("cannot make {}", path.display()))
}

/// A new file that only its owner reads.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn report(folder: &Path, entries: &[AgentEntry], fleet: &str, days: u32) -> String {
    let shown = folder.display();
    let mut text = format!("# {shown}/{FLEET}\n{fleet}\n");
    for entry in entries {
        let name = entry.name.as_deref().unwrap_or("");
        let way = match &entry.nats {
            Some(server) => format!("--join {server}"),
            None => {
                let port = entry.tcp.as_deref().and_then(|address| address.rsplit_once(':'));
                format!("--listen 0.0.0.0:{}", port.map_or("", |(_, port)| port))
            }
        };
        let _ = writeln!(
            text,
            "# copy {shown}/{AGENTS}/{name} to its host, and begin there:\n\
             #   prony agent {way} --tls {name} --allow TARGET"
        );
    }
    let _ = writeln!(
        text,
        "# certificates are good for {days} days; {shown}/{AUTHORITY_KEY} can make more: keep it off other hosts"
    );
    text
}
