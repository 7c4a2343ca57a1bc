//! Clients that do not behave: the fault server lives on, bounded, and serves the next client rightly.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;
use testkit::fault::{Fault, FaultServer, Pattern, RIGHT_BODY, Spec};

/// Sends `bytes`, says nothing more, and returns what comes back.
fn send(addr: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may close before it has read all of it.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

const GOOD: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";

#[test]
fn whatever_a_client_sends_the_next_one_is_served() {
    for fault in [Fault::ResetMidBody, Fault::CertExpired, Fault::TlsSplit, Fault::EarlyAnswer] {
        let server = FaultServer::start(Spec::new(fault, Pattern::Every(1_000_000)).unwrap()).unwrap();
        for bytes in [
            &b""[..],
            b"\r\n\r\n\r\n",
            b"\x16\x03\x01",
            b"\x16\x03\x01\xff\xff",
            b"\x16\x03\x01\x00\x05hello",
            b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nshort",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            &[b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'a'; 200_000]].concat(),
            &[0; 100_000],
        ] {
            send(server.addr(), bytes);
        }
        if fault.entry().tls {
            assert_eq!(server.counts().requests, 0, "{fault}: plain text is no request here");
        } else {
            assert!(send(server.addr(), GOOD).ends_with(RIGHT_BODY), "{fault}");
        }
    }
}

#[test]
fn requests_that_come_at_once_are_counted_one_by_one() {
    let server = FaultServer::start(Spec::new(Fault::Status500, Pattern::Every(2)).unwrap()).unwrap();
    let three = [b"GET / HTTP/1.1\r\n\r\n".as_slice(), b"HEAD / HTTP/1.1\r\n\r\n", GOOD].concat();
    let answers = send(server.addr(), &three);
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 500").count(), 1, "{answers}");
    let counts = server.counts();
    assert_eq!((counts.connections, counts.requests, counts.faults), (1, 3, 1));
}

#[test]
fn a_request_that_is_none_is_refused() {
    let server = FaultServer::start(Spec::new(Fault::Status500, Pattern::First(1)).unwrap()).unwrap();
    assert!(send(server.addr(), b"nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
}

#[test]
fn the_server_ends_while_clients_are_stuck_in_its_faults() {
    for fault in [
        Fault::ChunkBomb,
        Fault::DripForever,
        Fault::StallReading,
        Fault::StallBeforeAnswer,
        Fault::EarlyAnswer,
    ] {
        let server = FaultServer::start(Spec::new(fault, Pattern::Always).unwrap()).unwrap();
        let mut stuck = TcpStream::connect(server.addr()).unwrap();
        stuck.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        while server.counts().faults == 0 {
            std::thread::yield_now();
        }
        // Ends although this client neither reads nor closes.
        drop(server);
        drop(stuck);
    }
}

#[test]
fn an_early_answer_leaves_the_body_unread() {
    // Were the body read, the client could send all of it and use the connection again, where nobody answers any more.
    let server = FaultServer::start(Spec::new(Fault::EarlyAnswer, Pattern::Always).unwrap()).unwrap();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    let body = vec![b'x'; 32 << 20];
    write!(stream, "POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    let mut answer = [0; 1024];
    let taken = stream.read(&mut answer).unwrap();
    assert!(answer[..taken].ends_with(RIGHT_BODY.as_bytes()));
    stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let sent = stream.write_all(&body);
    assert!(matches!(&sent, Err(error) if error.kind() == ErrorKind::WouldBlock), "{sent:?}");
}
