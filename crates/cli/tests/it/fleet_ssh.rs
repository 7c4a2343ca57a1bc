//! Agents behind ssh, as a fleet file's `command` reaches them: a real sshd on loopback, with keys, a configuration and a
//! port of its own, for the user that runs the tests. Neither the user's nor the host's ssh files are read.
//!
//! Without OpenSSH the tests are skipped, and say so. Started as root, sshd wants /run/sshd; where it is missing it gets
//! one in a mount namespace of its own, so that the host stays as it was.

use crate::command::{Server, bad, done, is_there};
use crate::fleet::{below, endless, json, kill};
use crate::load::{stats, wait_until};
use crate::processes::{children, is_gone};
use rustix::process::Signal;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::from_utf8;

const SSHD: &str = "/usr/sbin/sshd";
/// Another program may take a port between the moment that it was found free and sshd's start.
const PORTS_TRIED: usize = 5;

/// sshd with its files; killed by its pid when dropped.
struct Sshd {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Sshd {
    /// `None` where it cannot be had, which is said.
    fn start() -> Option<Self> {
        if let Some(missing) = ["ssh", "sshd", "ssh-keygen"].into_iter().find(|program| !is_there(program)) {
            println!("skipped: {missing} is not here (apt-get install openssh-server openssh-client)");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["host", "other_host", "user", "other_user"] {
            let words = ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"];
            let made = Command::new("ssh-keygen").args(words).arg(path(name)).stdin(Stdio::null()).status();
            assert!(made.unwrap().success(), "no key {name}");
        }
        std::fs::copy(path("user.pub"), path("authorized_keys")).unwrap();
        let log = path("log");
        for _ in 0..PORTS_TRIED {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            std::fs::write(path("config"), config(folder.path(), port)).unwrap();
            let mut child = command(&path("config"), &log).spawn().unwrap();
            let read = || std::fs::read_to_string(&log).unwrap_or_default();
            let mut ended = None;
            wait_until("sshd listens or ends", || {
                ended = child.try_wait().unwrap();
                ended.is_some() || read().contains("Server listening on 127.0.0.1")
            });
            match ended {
                None => return Some(Self { child, port, folder }),
                Some(_) if read().contains("Address already in use") => {}
                Some(status) if is_without_namespace(&read()) => {
                    println!(
                        "skipped: sshd has no /run/sshd, and no mount namespace is to be had ({status})"
                    );
                    return None;
                }
                Some(status) => panic!("sshd ended ({status}): {}", read()),
            }
        }
        panic!("no port for sshd");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// How to reach an agent behind it, with this user's key and this host's key known.
    fn entry(&self, name: &str, user: &str, host: &str) -> String {
        let key = std::fs::read_to_string(self.path(&format!("{host}.pub"))).unwrap();
        let known = self.path(&format!("known_{host}"));
        std::fs::write(&known, format!("[127.0.0.1]:{} {key}", self.port)).unwrap();
        let options = [
            format!("UserKnownHostsFile={}", known.display()),
            "GlobalKnownHostsFile=none".to_owned(),
            "StrictHostKeyChecking=yes".to_owned(),
            "BatchMode=yes".to_owned(),
            "IdentitiesOnly=yes".to_owned(),
            "IdentityAgent=none".to_owned(),
        ];
        let (port, key) = (self.port.to_string(), self.path(user).display().to_string());
        let mut command = vec!["ssh", "-F", "none", "-T", "-p", &port, "-i", &key];
        command.extend(options.iter().flat_map(|option| ["-o", option.as_str()]));
        command.extend(["127.0.0.1", env!("CARGO_BIN_EXE_prony"), "agent", "--stdio"]);
        format!("[[agent]]\nname = \"{name}\"\ncommand = {command:?}\n")
    }

    fn fleet(&self, entries: &[String]) -> String {
        let file = self.path("fleet.toml");
        std::fs::write(&file, entries.concat()).unwrap();
        file.display().to_string()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn config(folder: &Path, port: u16) -> String {
    let shown = folder.display();
    format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized_keys\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PubkeyAuthentication yes\nPermitRootLogin prohibit-password\nPermitUserEnvironment no\n"
    )
}

/// sshd in the foreground. It demands its own absolute path.
fn command(config: &Path, log: &Path) -> Command {
    let needs_folder = rustix::process::geteuid().is_root() && !Path::new("/run/sshd").is_dir();
    let mut command = if needs_folder {
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs sshd /run && mkdir /run/sshd && exec \"$@\"";
        command.args(["--mount", "sh", "-c", script, "sh", SSHD]);
        command
    } else {
        Command::new(SSHD)
    };
    command.arg("-D").arg("-f").arg(config).arg("-E").arg(log);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// sshd wrote nothing where what came before it failed.
fn is_without_namespace(log: &str) -> bool {
    log.is_empty() && rustix::process::geteuid().is_root() && !Path::new("/run/sshd").is_dir()
}

#[test]
fn a_load_over_ssh_counts_every_request_once_and_reaches_loopback_only() {
    let Some(sshd) = Sshd::start() else { return };
    let server = Server::start(&[]);
    let fleet = sshd.fleet(&["far-1", "far-2"].map(|name| sshd.entry(name, "user", "host")));
    let report = json(&[&server.url("/ping"), "--fleet", &fleet, "-c", "4", "-n", "1001"]);
    let count = |value: &serde_json::Value| value.as_u64().unwrap_or_else(|| panic!("no count in {report}"));
    let requests = &report["requests"];
    let ended = ["completed", "failed", "censored"].map(|end| count(&requests[end])).iter().sum::<u64>();
    assert_eq!((count(&requests["scheduled"]), ended, stats(&server)), (1001, 1001, 1001), "{requests}");
    let agents = report["fleet"]["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["far-1", "far-2"]);
    for key in ["scheduled", "completed", "failed", "censored"] {
        let sum: u64 = agents.iter().map(|agent| count(&agent[key])).sum();
        assert_eq!(sum, count(&requests[key]), "{key} of {agents:?}");
    }
    assert_eq!(sshd.log().matches("Accepted publickey").count(), 2, "{}", sshd.log());
    // Private, so free for the controller; the agents behind ssh open no connection to it. Either may answer first.
    let refused = done(&["load", "http://10.255.255.1:9/", "--fleet", &fleet, "-c", "2", "-d", "1s"]);
    let words = ["agent far-", " refuses: 10.255.255.1 (10.255.255.1) is not on its list"];
    assert!(refused.code == 2 && words.iter().all(|part| refused.err.contains(part)), "{refused:?}");
}

#[test]
fn a_wrong_host_key_and_a_refused_user_key_are_named_with_the_remedy() {
    let Some(sshd) = Sshd::start() else { return };
    let server = Server::start(&[]);
    for (user, host, words) in [
        ("user", "other_host", "Host key verification failed."),
        ("other_user", "host", "Permission denied (publickey)."),
    ] {
        let fleet = sshd.fleet(&[sshd.entry("far", user, host)]);
        let load = ["load", &server.url("/ping"), "--fleet", &fleet, "-c", "1", "-n", "10"];
        let remedy = "remedy: its ssh must work by hand without a question";
        bad(&load, 2, &["agent far cannot be reached: ", words, remedy]);
    }
    assert_eq!(stats(&server), 0, "nothing was sent");
}

/// The processes of sshd for its one connection.
fn session(sshd: &Sshd) -> Vec<u32> {
    let (mut all, mut parents) = (Vec::new(), vec![sshd.child.id()]);
    while let Some(parent) = parents.pop() {
        let own = children(parent).into_iter().filter(|(_, line)| line.starts_with("sshd"));
        let own: Vec<_> = own.map(|(pid, _)| pid).collect();
        parents.extend(&own);
        all.extend(own);
    }
    all
}

/// All processes below this one, at any depth.
fn all_below(pid: u32) -> Vec<u32> {
    let own: Vec<_> = children(pid).into_iter().map(|(pid, _)| pid).collect();
    own.iter().flat_map(|pid| all_below(*pid)).chain(own.iter().copied()).collect()
}

#[test]
fn a_connection_of_ssh_that_is_killed_in_the_middle_is_named_and_ends_all() {
    let Some(sshd) = Sshd::start() else { return };
    let near = "[[agent]]\nname = \"near\"\nhere = true\n".to_owned();
    let fleet = sshd.fleet(&[sshd.entry("far", "user", "host"), near]);
    for at_far_end in [true, false] {
        let server = Server::start(&[]);
        let load = endless(&server, &fleet);
        let (behind, near) = (all_below(sshd.child.id()), below(&[load.id()]));
        let (killed, cause) = if at_far_end {
            (session(&sshd), "agent far was lost in the middle of the load (Connection to 127.0.0.1")
        } else {
            let clients = children(load.id()).into_iter().filter(|(_, line)| line.starts_with("ssh "));
            (clients.map(|(pid, _)| pid).collect(), "agent far was lost in the middle of the load (")
        };
        assert!(!killed.is_empty() && !behind.is_empty());
        killed.into_iter().for_each(|pid| kill(pid, Signal::KILL));
        let ended = load.wait_with_output().unwrap();
        let said = from_utf8(&ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(cause) && said.contains("the trial is void"), "{said}");
        wait_until("all are gone", || behind.iter().chain(&near).all(|pid| is_gone(*pid)));
    }
}
