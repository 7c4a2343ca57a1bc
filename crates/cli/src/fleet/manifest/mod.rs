//! `prony fleet manifest`: what starts the agents of a fleet elsewhere, from its folder of keys.
//!
//! Invariants: what goes into a document was checked before, so no text of a user has a meaning of its own in it; private
//! keys go to a file that only its owner reads, or where the user asked for them; nothing that is there is written over.
//! Absent on purpose: talking to a control plane; `kubectl` and `systemctl` are there.

mod kubernetes;
mod systemd;

use super::keys::write;
use crate::args::ManifestArgs;
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use fleet::{Allow, LOGIN_FILE, check_name};
use plan::fleet as settings;
use schema::fleet::{AgentLink, FleetPlan};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// A document and the name of its file.
type Document = (&'static str, String);

/// An agent of the fleet file: its name and the port on which it is reached.
#[derive(Debug)]
struct Agent {
    name: String,
    port: u16,
}

/// How the agents of the fleet file are reached: all in one way.
enum Ways {
    Listen(Vec<Agent>),
    Join(Bus),
}

/// The bus that they join.
#[derive(Debug, PartialEq)]
struct Bus {
    server: String,
    /// Whether the controller needs a user there: then its agents need one, too.
    asks_for_user: bool,
}

/// Makes the documents and writes or prints them.
pub(super) fn manifest(args: &ManifestArgs) -> Result<u8> {
    check_allow(&args.allow)?;
    let documents = match (ways(&args.keys)?, args.systemd) {
        (Ways::Listen(agents), true) => vec![systemd::unit(args, &agents)?],
        (Ways::Join(bus), true) => vec![systemd::unit_on_bus(args, &bus)?],
        (Ways::Listen(_), false) if args.output.is_none() && !args.print_keys => bail!(
            "it holds private keys, which are not printed unasked\n  remedy: give --output DIR, or --print-keys"
        ),
        (Ways::Listen(agents), false) => kubernetes::documents(args, &agents)?,
        (Ways::Join(bus), false) => bail!(
            "the agents of this fleet join {}, and objects are made for agents that listen\n  remedy: in a cluster \
             make keys without --nats; agents there have names that can be reached",
            bus.server
        ),
    };
    match &args.output {
        Some(folder) => save(folder, &documents)?,
        None => output::write(None, &documents[0].1)?,
    }
    Ok(exit::DONE)
}

fn save(folder: &Path, documents: &[Document]) -> Result<()> {
    // Before the first is written: all or none.
    if let Some((name, _)) = documents.iter().find(|(name, _)| folder.join(name).exists()) {
        bail!(
            "{} is there already\n  remedy: give another folder, or remove it first",
            folder.join(name).display()
        );
    }
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text) in documents {
        write(&folder.join(name), text)?;
        output::write(None, &format!("{}\n", folder.join(name).display()))?;
    }
    Ok(())
}

/// The agents of a folder of keys, each with keys.
fn ways(keys: &Path) -> Result<Ways> {
    let file = keys.join(super::keys::FLEET);
    let fleet = settings::read(&file.display().to_string())
        .with_context(|| format!("give a folder that `prony fleet keys` made, not {}", keys.display()))?;
    if let Some(bus) = common_bus(&fleet) {
        return Ok(Ways::Join(bus));
    }
    let mut agents = Vec::new();
    for agent in fleet.agents {
        let AgentLink::Tls { address, .. } = &agent.link else {
            bail!(
                "{}: agent {} does not listen with keys\n  remedy: remove it from the file, or make keys by `prony fleet keys {} --add {}`",
                file.display(),
                agent.name,
                keys.display(),
                agent.name
            );
        };
        check_name(&agent.name)?;
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        agents.push(Agent { port: port.unwrap_or(super::keys::PORT), name: agent.name });
    }
    Ok(Ways::Listen(agents))
}

/// The bus that all agents join, if they all join one.
fn common_bus(fleet: &FleetPlan) -> Option<Bus> {
    let mut ways = fleet.agents.iter().map(|agent| match &agent.link {
        AgentLink::Nats { server, keys } => Some((server, keys)),
        _ => None,
    });
    let first = ways.next()??;
    let asks_for_user = Path::new(first.1).join(LOGIN_FILE).exists();
    ways.all(|way| way == Some(first)).then(|| Bus { server: first.0.clone(), asks_for_user })
}

/// The entries of an agent's list, which stand in documents of others.
fn check_allow(allow: &[String]) -> Result<()> {
    Allow::parse(allow).context("--allow")?;
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:/[]".contains(&byte);
    match allow.iter().find(|entry| entry.starts_with('-') || !entry.bytes().all(is_of_host)) {
        None => Ok(()),
        Some(wrong) => bail!(
            "--allow: `{wrong}` is no name of a host\n  remedy: give a name, an address or a network such as 10.1.0.0/16"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command, FleetCommand};
    use clap::Parser as _;

    /// The arguments of `prony fleet manifest` as a user gives them.
    pub(super) fn parse(words: &[&str]) -> ManifestArgs {
        let args = Args::try_parse_from([&["prony", "fleet", "manifest"], words].concat()).unwrap();
        let Command::Fleet(args) = args.command else { panic!("{args:?}") };
        let FleetCommand::Manifest(args) = args.command else { panic!("{args:?}") };
        *args
    }

    pub(super) fn two(ports: [u16; 2]) -> Vec<Agent> {
        let named = ["load-1", "load-2"].into_iter().zip(ports);
        named.map(|(name, port)| Agent { name: name.to_owned(), port }).collect()
    }

    /// The arguments of an agent in a document are those of `prony agent`.
    pub(super) fn check_agent(words: &[String]) -> crate::args::AgentArgs {
        let words = [&["prony".to_owned()], words].concat();
        let args = Args::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let Command::Agent(args) = args.command else { panic!("{words:?}") };
        Allow::parse(&args.allow).unwrap();
        args
    }

    #[test]
    fn entries_that_mean_something_to_another_program_are_refused() {
        check_allow(&["shop.internal", "10.1.0.0/16", "[::1]", "fd00::/8"].map(str::to_owned)).unwrap();
        for wrong in ["a%n", "a$b", "a\"b", "a;b", "-x", "a\\b", "ä"] {
            let error = format!("{:#}", check_allow(&[wrong.to_owned()]).unwrap_err());
            assert!(error.contains("remedy: give a name"), "{wrong}: {error}");
        }
        for wrong in ["", "a b", "http://a", "a\nb", "a:80"] {
            assert!(check_allow(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn options_of_one_system_are_refused_with_the_other() {
        for wrong in [
            &["keys", "--allow", "a"][..],
            &["keys", "--systemd", "--kubernetes", "--allow", "a"],
            &["keys", "--systemd"],
            &["keys", "--systemd", "--allow", "a", "--image", "p:1"],
            &["keys", "--systemd", "--allow", "a", "--namespace", "p"],
            &["keys", "--kubernetes", "--allow", "a"],
            &["keys", "--kubernetes", "--allow", "a", "--image", "p:1", "--program", "/p"],
            &["keys", "--kubernetes", "--allow", "a", "--image", "p:1", "--memory-mib", "1"],
        ] {
            let words = [&["prony", "fleet", "manifest"], wrong].concat();
            assert!(Args::try_parse_from(&words).is_err(), "{words:?}");
        }
    }
}
