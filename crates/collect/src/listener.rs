//! Who listens on an address of this host: the process of a server that prony did not start, so that its CPU time,
//! threads and memory can be read although only its URL is known. From `net/tcp` and `net/tcp6` (proc(5)) the socket,
//! from `PID/fd` its holder.
//!
//! Invariants: nobody is named where it is not sure: of several holders only the one from which all others descend; never
//! prony itself, nor a process that prony descends from, whose work would be counted with its own; nor a forwarder, which
//! does not do the work. What may not be read (another user's descriptors) is no holder.
//! Absent on purpose: servers on other hosts, Unix sockets, and other network namespaces.

use crate::process::parse;
use crate::{Roots, text};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// State of a socket that listens (include/net/tcp_states.h).
const LISTEN: &str = "0A";
/// Programs that only pass connections on, to a container or another host.
const FORWARDERS: &[&str] =
    &["docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "ssh", "sshd", "kubectl"];
/// Parents that are followed at most; no real chain is longer.
const PARENTS_MAX: usize = 128;

/// The first process of the server that listens on `address`, where that is this host and it is sure.
#[must_use]
pub fn process(roots: &Roots, address: SocketAddr) -> Option<u32> {
    if !address.ip().is_loopback() {
        return None;
    }
    let files = ["net/tcp", "net/tcp6"].map(|file| text::read_optional(&roots.proc.join(file)));
    let sockets: BTreeSet<u64> =
        files.iter().flatten().flat_map(|file| sockets(&String::from_utf8_lossy(file), address)).collect();
    if sockets.is_empty() {
        return None;
    }
    let holders: BTreeSet<u32> = processes(roots).filter(|pid| holds(roots, *pid, &sockets)).collect();
    let own = std::process::id();
    let root = first(&holders, |pid| parent(roots, pid)).filter(|pid| !forwards(roots, *pid))?;
    let is_ours = root == own || ancestors(own, |pid| parent(roots, pid)).any(|pid| pid == root);
    (!is_ours).then_some(root)
}

/// Inodes of the sockets that listen on an address, from the text of `net/tcp` or `net/tcp6`.
fn sockets(table: &str, address: SocketAddr) -> Vec<u64> {
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let local = local(fields.get(1)?)?;
        let is_it =
            *fields.get(3)? == LISTEN && local.port() == address.port() && hears(local.ip(), address.ip());
        is_it.then(|| fields.get(9)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

/// `0100007F:1F90`: words of the address in the host's byte order, and the port.
fn local(field: &str) -> Option<SocketAddr> {
    let (ip, port) = field.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match ip.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Whether a socket at `local` takes connections to `asked`.
fn hears(local: IpAddr, asked: IpAddr) -> bool {
    // `::` takes those of IPv4 too, unless it was told not to, which this table does not say.
    local == asked.to_canonical()
        || local == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        || (asked.to_canonical().is_ipv4() && local == IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

fn processes(roots: &Roots) -> impl Iterator<Item = u32> {
    let pid = |entry: DirEntry| entry.file_name().to_str()?.parse().ok();
    fs::read_dir(&roots.proc).into_iter().flatten().flatten().filter_map(pid)
}

fn holds(roots: &Roots, pid: u32, sockets: &BTreeSet<u64>) -> bool {
    let folder = roots.proc.join(pid.to_string()).join("fd");
    let is_it = |entry: DirEntry| {
        let link = fs::read_link(entry.path()).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
        sockets.contains(&inode).then_some(())
    };
    fs::read_dir(folder).into_iter().flatten().flatten().find_map(is_it).is_some()
}

/// Whether it is one of the programs that only pass connections on.
fn forwards(roots: &Roots, pid: u32) -> bool {
    let name = text::read_optional(&roots.proc.join(pid.to_string()).join("comm")).unwrap_or_default();
    FORWARDERS.contains(&String::from_utf8_lossy(&name).trim_end())
}

fn parent(roots: &Roots, pid: u32) -> Option<u32> {
    let bytes = text::read_optional(&roots.proc.join(pid.to_string()).join("stat"))?;
    Some(parse::stat(&bytes).ok()?.parent).filter(|parent| *parent > 0)
}

fn ancestors(pid: u32, parent: impl Fn(u32) -> Option<u32>) -> impl Iterator<Item = u32> {
    std::iter::successors(parent(pid), move |pid| parent(*pid)).take(PARENTS_MAX)
}

/// The one from which all others descend.
fn first(holders: &BTreeSet<u32>, parent: impl Fn(u32) -> Option<u32>) -> Option<u32> {
    let is_below = |pid: u32| ancestors(pid, &parent).any(|above| holders.contains(&above));
    let mut roots = holders.iter().copied().filter(|pid| !is_below(*pid));
    let root = roots.next()?;
    roots.next().is_none().then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};

    /// A server of another process, on a port that the system chose.
    fn server() -> (Child, SocketAddr) {
        let script = "import socket,sys,time\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen()\n\
                      print(s.getsockname()[1],flush=True)\nsys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        (child, SocketAddr::from(([127, 0, 0, 1], port.trim().parse().unwrap())))
    }

    #[test]
    fn another_process_is_found_by_its_socket_and_is_gone_with_it() {
        let (mut child, address) = server();
        assert_eq!(process(&Roots::default(), address), Some(child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(process(&Roots::default(), address), None);
    }

    #[test]
    fn a_server_within_this_process_is_not_taken_for_the_target() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(process(&Roots::default(), listener.local_addr().unwrap()), None);
    }

    #[test]
    fn only_sockets_that_listen_where_is_asked_are_it() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0\n\
            1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 100 0 0 10 0\n\
            2: 0200007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 100 0 0 10 0\n\
            3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 100 0 0 10 0\n\
            4: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 15 1 0 100 0 0 10 0\n\
            broken\n";
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(sockets(table, at("127.0.0.1:8080")), [11, 12]);
        assert_eq!(sockets(table, at("127.0.0.1:8082")), Vec::<u64>::new());
        let six = "  sl\n   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A \
                   00000000:00000000 00:00000000 00000000  1000        0 21 1 0 100 0 0 10 0\n\
                   1: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A \
                   00000000:00000000 00:00000000 00000000  1000        0 22 1 0 100 0 0 10 0\n";
        assert_eq!(sockets(six, at("127.0.0.1:8080")), [21]);
        assert_eq!(sockets(six, at("[::1]:8081")), [22]);
        assert_eq!(sockets(six, at("127.0.0.1:8081")), Vec::<u64>::new());
    }

    #[test]
    fn of_several_holders_only_a_common_first_one_is_sure() {
        let parents =
            |pid: u32| [(7, 5), (8, 5), (9, 8), (5, 1)].iter().find(|(of, _)| *of == pid).map(|of| of.1);
        let first = |holders: &[u32]| first(&holders.iter().copied().collect(), parents);
        assert_eq!(first(&[5, 7, 9]), Some(5));
        assert_eq!(first(&[8, 9]), Some(8));
        assert_eq!(first(&[7, 8]), None, "two workers whose master holds nothing");
        assert_eq!(first(&[]), None);
    }

    #[test]
    fn other_hosts_are_not_looked_at() {
        assert_eq!(process(&Roots::default(), "192.0.2.1:80".parse().unwrap()), None);
    }
}
