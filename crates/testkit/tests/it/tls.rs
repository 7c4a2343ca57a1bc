//! The TLS side of the fault server, seen by an ordinary blocking rustls client: each fault is what it says it is, and
//! the client after it is served rightly.

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, Stream};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use testkit::certs::Pki;
use testkit::fault::{Fault, FaultServer, Pattern, RIGHT_BODY, Spec, TlsServer};

/// What one exchange came to.
#[derive(Debug)]
enum Seen {
    /// The body, and whether the connection was closed with a closing alert or stayed open.
    Answer(String),
    Reset,
    /// The end of the connection without a closing alert.
    Cut,
    Late,
    Tls(Error),
}

/// One request on a connection of its own.
fn ask(addr: SocketAddr, config: Arc<ClientConfig>, patience: Duration) -> Seen {
    let mut tcp = TcpStream::connect(addr).unwrap();
    tcp.set_read_timeout(Some(patience)).unwrap();
    let mut tls = ClientConnection::new(config, ServerName::try_from("localhost").unwrap()).unwrap();
    let mut stream = Stream::new(&mut tls, &mut tcp);
    let mut answer = Vec::new();
    let result = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").and_then(|()| {
        let mut bytes = [0; 4096];
        while !answer.ends_with(RIGHT_BODY.as_bytes()) || !answer.starts_with(b"HTTP/1.1 200 OK\r\nContent") {
            match stream.read(&mut bytes)? {
                0 => break,
                taken => answer.extend_from_slice(&bytes[..taken]),
            }
        }
        Ok(())
    });
    let Err(error) = result else { return Seen::Answer(String::from_utf8(answer).unwrap()) };
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Seen::Reset,
        ErrorKind::UnexpectedEof => Seen::Cut,
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Seen::Late,
        _ => match error.downcast::<Error>() {
            Ok(error) => Seen::Tls(error),
            Err(error) => panic!("{error:?}"),
        },
    }
}

fn is_as_it_should_be(fault: Fault, seen: &Seen) -> bool {
    use CertificateError as E;
    match (fault, seen) {
        (Fault::TlsAlert, Seen::Tls(Error::AlertReceived(AlertDescription::HandshakeFailure)))
        | (Fault::TlsClose, Seen::Cut)
        | (Fault::TlsReset | Fault::TlsResetMidBody, Seen::Reset)
        | (Fault::TlsStall, Seen::Late)
        | (Fault::TlsGarbage | Fault::TlsPlainHttp, Seen::Tls(Error::InvalidMessage(_)))
        | (Fault::TlsWantsClient, Seen::Tls(Error::AlertReceived(AlertDescription::CertificateRequired)))
        | (Fault::TlsTruncated | Fault::TlsCutMidBody, Seen::Cut)
        | (Fault::TlsAlertMidBody, Seen::Tls(Error::AlertReceived(AlertDescription::BadRecordMac)))
        | (Fault::TlsDamagedRecord, Seen::Tls(Error::DecryptError)) => true,
        (Fault::TlsSplit, Seen::Answer(answer)) => answer.ends_with(RIGHT_BODY),
        (_, Seen::Tls(Error::InvalidCertificate(error))) => matches!(
            (fault, error),
            (Fault::CertExpired, E::Expired | E::ExpiredContext { .. })
                | (Fault::CertNotYetValid, E::NotValidYet | E::NotValidYetContext { .. })
                | (Fault::CertWrongName, E::NotValidForName | E::NotValidForNameContext { .. })
                | (Fault::CertSelfSigned | Fault::CertUnknownIssuer, E::UnknownIssuer)
                | (Fault::CertWrongUsage, E::InvalidPurpose | E::InvalidPurposeContext { .. })
                | (Fault::CertBadSignature, E::BadSignature)
        ),
        _ => false,
    }
}

#[test]
fn every_fault_of_tls_is_what_it_says_and_the_next_connection_is_right() {
    let faults: Vec<Fault> = Fault::ALL.iter().copied().filter(|fault| fault.entry().tls).collect();
    assert!(faults.len() >= 20, "{faults:?}");
    for fault in faults {
        let server = FaultServer::start(Spec::new(fault, Pattern::First(1)).unwrap()).unwrap();
        let client = server.pki().unwrap().client_config(None).unwrap();
        let patience = if fault == Fault::TlsStall { 100 } else { 20_000 };
        let seen = ask(server.addr(), client.clone(), Duration::from_millis(patience));
        assert!(is_as_it_should_be(fault, &seen), "{fault}: {seen:?}");
        let next = ask(server.addr(), client, Duration::from_secs(20));
        assert!(matches!(&next, Seen::Answer(answer) if answer.ends_with(RIGHT_BODY)), "{fault}: {next:?}");
        let counts = server.counts();
        assert_eq!((counts.connections, counts.faults), (2, 1), "{fault}");
    }
}

#[test]
fn a_split_answer_comes_in_records_of_one_byte() {
    let server = FaultServer::start(Spec::new(Fault::TlsSplit, Pattern::Always).unwrap()).unwrap();
    let client = server.pki().unwrap().client_config(None).unwrap();
    let mut tcp = TcpStream::connect(server.addr()).unwrap();
    let mut tls = ClientConnection::new(client, ServerName::try_from("localhost").unwrap()).unwrap();
    Stream::new(&mut tls, &mut tcp).write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let (mut records, mut answer) = (0, Vec::new());
    while !answer.ends_with(RIGHT_BODY.as_bytes()) {
        // One record at a time: its header, the length in it, and as much more.
        let mut record = vec![0; 5];
        tcp.read_exact(&mut record).unwrap();
        record.resize(5 + usize::from(u16::from_be_bytes([record[3], record[4]])), 0);
        tcp.read_exact(&mut record[5..]).unwrap();
        tls.read_tls(&mut record.as_slice()).unwrap();
        let plain = tls.process_new_packets().unwrap().plaintext_bytes_to_read();
        let mut bytes = vec![0; plain];
        tls.reader().read_exact(&mut bytes).unwrap();
        // Session tickets are records too, without plain text.
        assert!(plain <= 1, "a record of {plain} bytes");
        records += plain;
        answer.extend_from_slice(&bytes);
    }
    assert_eq!(records, answer.len());
    assert!(records > 100);
}

#[test]
fn the_server_without_faults_counts_requests_and_resumed_sessions() {
    let pki = Pki::new().unwrap();
    let server = TlsServer::start(pki.server_config(pki.server(), false, &[]).unwrap()).unwrap();
    let client = pki.client_config(None).unwrap();
    for _ in 0..3 {
        let seen = ask(server.addr(), client.clone(), Duration::from_secs(20));
        assert!(matches!(seen, Seen::Answer(_)), "{seen:?}");
    }
    assert_eq!(server.requests(), 3);
    assert_eq!(server.handshakes(), (3, 2), "the second and third resume the session of their predecessor");
}
