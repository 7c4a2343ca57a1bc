//! A unit for systemd that runs one agent: the same on every host, because each host has its agent's keys at one place.
//!
//! Invariants: the agent runs as a user that exists only while it runs, sees its keys and no other secret (systemd hands
//! them over), and writes to a /tmp of its own alone. It starts again after a failure, and stays ended after `prony fleet
//! drain` and `stop`, which end it in order.

use super::{Agent, Bus, Document};
use crate::args::ManifestArgs;
use anyhow::{Result, bail};
use fleet::{AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE, LOGIN_FILE};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

pub(super) const FILE: &str = "prony-agent.service";

/// For agents that listen.
pub(super) fn unit(args: &ManifestArgs, agents: &[Agent]) -> Result<Document> {
    let listen = match args.listen {
        Some(listen) => listen,
        None => SocketAddr::from((Ipv4Addr::UNSPECIFIED, common_port(agents)?)),
    };
    unit_with(args, &format!("--listen {listen}"), &[])
}

/// For agents that join a bus; its address was checked when the fleet file was read.
pub(super) fn unit_on_bus(args: &ManifestArgs, bus: &Bus) -> Result<Document> {
    let server = &bus.server;
    if args.listen.is_some() {
        bail!("--listen: the agents of this fleet join {server}\n  remedy: leave it out");
    }
    let login: &[&str] = if bus.asks_for_user { &[LOGIN_FILE] } else { &[] };
    unit_with(args, &format!("--join {server}"), login)
}

/// `beside` are files beside the keys.
fn unit_with(args: &ManifestArgs, way: &str, beside: &[&str]) -> Result<Document> {
    check_path("--program", &args.program)?;
    check_path("--keys-at", &args.keys_at)?;
    let (program, keys, memory) = (&args.program, &args.keys_at, args.memory_mib);
    let credential = |file: &str| format!("LoadCredential={file}:{keys}/{file}\n");
    let files = [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE].into_iter().chain(beside.iter().copied());
    let credentials: String = files.map(credential).collect();
    let allow: String = args.allow.iter().map(|host| format!(" --allow {host}")).collect();
    let text = format!(
        "# Made by `prony fleet manifest --systemd`. The same on every host; its agent's keys are in {keys}.
[Unit]
Description=prony agent: a part of a load for its fleet's controller
Wants=network-online.target
After=network-online.target

[Service]
ExecStart={program} agent {way} --tls %d{allow}
{credentials}Restart=on-failure
RestartSec=2s
DynamicUser=yes
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
LimitNOFILE=1048576
LimitCORE=0
MemoryMax={memory}M
MemorySwapMax=0

[Install]
WantedBy=multi-user.target
"
    );
    Ok((FILE, text))
}

/// The port of all agents: one unit is for every host.
fn common_port(agents: &[Agent]) -> Result<u16> {
    let ports: BTreeSet<u16> = agents.iter().map(|agent| agent.port).collect();
    match ports.iter().collect::<Vec<_>>()[..] {
        [port] => Ok(*port),
        _ => bail!(
            "the agents of this fleet have different ports\n  remedy: give --listen ADDR:PORT, once for each port"
        ),
    }
}

/// A path that means nothing else to systemd: no blank, quote, `%` or `$`.
fn check_path(option: &str, path: &str) -> Result<()> {
    let is_of_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    if path.starts_with('/') && path.len() > 1 && path.bytes().all(is_of_path) && !path.contains("/../") {
        return Ok(());
    }
    bail!(
        "{option}: `{path}` cannot stand in a unit\n  remedy: give an absolute path of letters, digits and ./_-+"
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_agent, parse, two};
    use super::*;

    fn lines<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
        text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
    }

    #[test]
    fn a_unit_runs_an_agent_with_its_keys_and_no_rights() {
        let words = [
            "keys",
            "--systemd",
            "--allow",
            "shop.internal",
            "--allow",
            "10.1.0.0/16",
            "--memory-mib",
            "256",
        ];
        let (name, text) = unit(&parse(&words), &two([7411, 7411])).unwrap();
        assert_eq!(name, "prony-agent.service");
        let start: Vec<String> = lines(&text, "ExecStart")[0].split(' ').map(str::to_owned).collect();
        assert_eq!(start[0], "/usr/bin/prony");
        let agent = check_agent(&start[1..]);
        assert_eq!(agent.listen.as_deref(), Some("0.0.0.0:7411"));
        assert_eq!(agent.tls.as_deref(), Some(std::path::Path::new("%d")), "the folder of credentials");
        assert_eq!(agent.allow, ["shop.internal", "10.1.0.0/16"]);
        let keys = ["authority.pem", "certificate.pem", "key.pem"];
        assert_eq!(lines(&text, "LoadCredential"), keys.map(|key| format!("{key}:/etc/prony/keys/{key}")));
        for (key, value) in [
            ("DynamicUser", "yes"),
            ("NoNewPrivileges", "yes"),
            ("CapabilityBoundingSet", ""),
            ("ProtectSystem", "strict"),
            ("Restart", "on-failure"),
            ("MemoryMax", "256M"),
            ("LimitNOFILE", "1048576"),
        ] {
            assert_eq!(lines(&text, key), [value], "{key}");
        }
        assert!(!text.contains("PRIVATE KEY"));
    }

    #[test]
    fn a_unit_of_a_fleet_on_a_bus_joins_it_under_the_name_in_its_certificate() {
        let words = ["keys", "--systemd", "--allow", "a"];
        let mut bus = Bus { server: "nats://bus:4222".to_owned(), asks_for_user: false };
        let (_, text) = unit_on_bus(&parse(&words), &bus).unwrap();
        let start: Vec<String> = lines(&text, "ExecStart")[0].split(' ').map(str::to_owned).collect();
        let agent = check_agent(&start[1..]);
        assert_eq!((agent.join.as_deref(), agent.listen), (Some("nats://bus:4222"), None));
        let listen = [&words[..], &["--listen", "[::]:9"]].concat();
        assert!(unit_on_bus(&parse(&listen), &bus).is_err());
        let login = "LoadCredential=nats.toml:/etc/prony/keys/nats.toml\n";
        assert!(!text.contains(login), "systemd starts nothing where a credential is missing");
        bus.asks_for_user = true;
        assert!(unit_on_bus(&parse(&words), &bus).unwrap().1.contains(login));
    }

    #[test]
    fn paths_and_ports_that_cannot_stand_in_a_unit_are_refused() {
        for (option, wrong) in [
            ("--program", "prony"),
            ("--program", "/a b"),
            ("--keys-at", "/etc/%n"),
            ("--keys-at", "/a/../b"),
            ("--keys-at", "/a\nExecStart=/b"),
        ] {
            let words = ["keys", "--systemd", "--allow", "a", option, wrong];
            let error = unit(&parse(&words), &two([1, 1])).unwrap_err().to_string();
            assert!(error.contains(option) && error.contains("remedy: give an absolute path"), "{error}");
        }
        let words = ["keys", "--systemd", "--allow", "a"];
        let error = unit(&parse(&words), &two([1, 2])).unwrap_err().to_string();
        assert!(error.contains("remedy: give --listen"), "{error}");
        let listen = ["--listen", "[::]:9"];
        let (_, text) = unit(&parse(&[&words[..], &listen].concat()), &two([1, 2])).unwrap();
        assert!(text.contains("--listen [::]:9 "), "{text}");
    }
}
