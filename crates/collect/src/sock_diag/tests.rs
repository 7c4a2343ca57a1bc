//! Real answers of a kernel, cut and damaged ones, and a namespace that is entered.

use super::*;
use crate::Roots;
use crate::process::followed::RootPid;
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// A datagram of Linux 6.18 about two connections on loopback and a socket that listens, with `TCP_INFO`.
const FIXTURE: &[u8] = include_bytes!("../../fixtures/sock_diag/established");

#[test]
fn a_real_answer() {
    let mut sockets = Vec::new();
    parse(FIXTURE, &mut sockets).unwrap();
    assert!(!sockets.is_empty());
    for socket in &sockets {
        assert_eq!((socket.state, socket.remote.ip().to_string().as_str()), (1, "127.0.0.1"));
        assert!(socket.cookie > 0);
        let info = socket.info.unwrap();
        assert!(info.rto_us > 0 && info.cwnd > 0 && info.bytes_retrans == Some(0), "{info:?}");
    }
}

#[test]
fn cut_and_damaged_answers_are_errors_or_shorter() {
    let whole = {
        let mut sockets = Vec::new();
        parse(FIXTURE, &mut sockets).unwrap();
        sockets.len()
    };
    for cut in 0..FIXTURE.len() {
        let mut sockets = Vec::new();
        let _ = parse(&FIXTURE[..cut], &mut sockets);
        assert!(sockets.len() < whole);
    }
    for at in 0..FIXTURE.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut damaged = FIXTURE.to_vec();
            damaged[at] = byte;
            let _ = parse(&damaged, &mut Vec::new());
        }
    }
}

#[test]
fn an_end_and_a_refusal_are_understood() {
    let message = |kind: u16, payload: &[u8]| {
        let mut bytes = (16 + payload.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(payload);
        bytes
    };
    let mut none = Vec::new();
    assert_eq!(parse(&message(NLMSG_DONE, &[0; 4]), &mut none), Ok(Progress::Done));
    assert_eq!(parse(&[], &mut none), Ok(Progress::More));
    let refused = parse(&message(NLMSG_ERROR, &(-1_i32).to_ne_bytes()), &mut none).unwrap_err();
    assert!(refused.to_string().contains("Operation not permitted"), "{refused}");
    assert!(parse(&message(NLMSG_ERROR, &i32::MIN.to_ne_bytes()), &mut none).is_err());
    assert!(parse(&message(SOCK_DIAG_BY_FAMILY, &[2]), &mut none).is_err());
    let mut short = message(NLMSG_DONE, &[]);
    short[0] = 3;
    assert!(parse(&short, &mut none).is_err(), "a length below its header");
    assert!(none.is_empty());
}

#[test]
fn a_namespace_of_its_own_is_asked_for_its_own_sockets() {
    // Ends by itself once its input does, so that it cannot stay behind.
    let child = Command::new("unshare")
        .args(["--net", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: unshare is missing (apt-get install util-linux)");
        return;
    };
    let link = format!("/proc/{}/ns/net", child.id());
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    let is_other = || std::fs::read_link(&link).is_ok_and(|it| it != own);
    while !is_other() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    if child.try_wait().unwrap().is_some() {
        println!("skipped: only root may make network namespaces");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let query = Query { states: StateFlags::LISTEN, local_port: port, remote_port: 0, with_info: false };
    let found = |namespace: &mut Namespace| namespace.sockets(&query, Family::V4).unwrap().0.len();
    assert_eq!(found(&mut Namespace::own(&Roots::default())), 1);
    let root = RootPid::new(child.id().into());
    let mut isolated = Namespace::of(&Roots::default(), root.clone());
    assert!(!isolated.is_own() && Namespace::own(&Roots::default()).is_own());
    assert_eq!(found(&mut isolated), 0, "it listens here, not there");
    let address = listener.local_addr().unwrap();
    let mut states = crate::tcp_states::source(&Roots::default(), None, Some(root), Some(address)).unwrap();
    assert_eq!(states.tick(units::Nanos(1)).unwrap().gauges["target_close_wait"], 0.0);
    assert_eq!(std::fs::read_link("/proc/thread-self/ns/net").unwrap(), own, "this thread stayed");
    drop(child.stdin.take());
    child.wait().unwrap();
}
