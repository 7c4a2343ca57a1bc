//! The engine over TLS, against the reference target and scripted peers: what is negotiated, what is counted, every
//! failure with its class and text; nothing is lost.

use crate::common::tls::{client, only, plan};
use crate::common::{MS, run, short_load};
use engine::{EngineError, Identity, Job, Part, Roots, Timeline, Tls, Way};
use request::{Check, Traffic};
use rustls::ServerConfig;
use schema::arrival::ArrivalPlan;
use schema::experiment::{LoadModel, Reference};
use schema::load::{ErrorClass, Time};
use schema::plan::{DriverChoice, EntryPlan, LoadPlan, RequestPlan, ScenarioPlan};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use testkit::certs::{Pki, Wrong};
use testkit::fault::TlsServer;
use testkit::reference::{Law, ReferenceServer};
use testkit::script::{Act, Scripted};
use testkit::tls_peer::{TlsAct, TlsPeer};
use units::Seed;

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"code\":0,\"msg\":\"ok\",\"data\":{}}";

fn server(pki: &Pki) -> Arc<ServerConfig> {
    pki.server_config(pki.server(), false, &[b"http/1.1"]).unwrap()
}

/// A server that resumes sessions by tickets that it need not remember.
fn ticketing(pki: &Pki) -> Arc<ServerConfig> {
    let mut config = ServerConfig::clone(&server(pki));
    config.ticketer = rustls::crypto::ring::Ticketer::new().unwrap();
    Arc::new(config)
}

fn closed(connections: u32) -> LoadPlan {
    LoadPlan {
        model: LoadModel::Closed,
        connections,
        connections_max: connections,
        workers: 1,
        connect_timeout_ns: 5000 * MS,
        timeout_ns: 10_000 * MS,
        seed: 1,
        ..LoadPlan::default()
    }
}

fn request(headers: &[(&str, &str)], body: &[u8]) -> RequestPlan {
    RequestPlan {
        method: if body.is_empty() { "GET" } else { "POST" }.into(),
        path: "/ping".into(),
        headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        body: body.to_vec(),
    }
}

fn job(to: SocketAddr, tls: Tls, load: LoadPlan, requests: u64) -> Job {
    let prepared = Traffic::single(&request(&[], &[]), "localhost", Check::new(&[200], None)).unwrap();
    let base = short_load(to, DriverChoice::Auto, 1, requests, prepared);
    Job {
        part: Part::whole(&load),
        load,
        tls: Some(tls),
        timeline: Timeline::for_samples(60_000 * MS, 1, 200 * MS),
        ..base
    }
}

/// Why not one connection could be opened: its class and text.
fn refusal(job: &Job) -> (ErrorClass, String) {
    match run(job) {
        Err(EngineError::NothingConnected { failures, example, .. }) => {
            assert_eq!(failures.len(), 1, "{failures:?}");
            (*failures.keys().next().unwrap(), example)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_budget_is_met_exactly_and_the_server_agrees() {
    let pki = Pki::new().unwrap();
    for version in ["1.2", "1.3"] {
        let law = Law::try_from(&Reference::default()).unwrap();
        let target = ReferenceServer::start_with(law, Some(ticketing(&pki))).unwrap();
        let tls = client(&pki, &only(version));
        for (connections, workers, requests) in [(1, 1, 500), (8, 3, 1001)] {
            let load = LoadPlan { workers, ..closed(connections) };
            let sum = run(&job(target.addr(), tls.clone(), load, requests)).unwrap();
            assert_eq!(sum.counts.measured.completed, requests, "{version}");
            assert_eq!(sum.status_counts(), BTreeMap::from([(200, requests)]));
            // Keep-alive: a connection and a handshake each, and times of both.
            assert_eq!(sum.counts.connects, u64::from(connections));
            assert_eq!(sum.counts.tls_full + sum.counts.tls_resumed, u64::from(connections));
            assert_eq!(sum.times[Time::Tls].len(), u64::from(connections));
            assert!(
                sum.times[Time::Tls].min() > 0 && sum.times[Time::Connect].len() == u64::from(connections)
            );
        }
        let stats = stats(target.addr(), &pki);
        assert!(stats.contains("\"requests\":1501"), "{version}: {stats}");
    }
}

fn stats(addr: SocketAddr, pki: &Pki) -> String {
    use std::io::{Read, Write};
    let session =
        rustls::ClientConnection::new(pki.client_config(None).unwrap(), "localhost".try_into().unwrap())
            .unwrap();
    let mut stream = rustls::StreamOwned::new(session, std::net::TcpStream::connect(addr).unwrap());
    stream.write_all(b"GET /stats HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn an_open_load_over_tls_is_exact_too() {
    let pki = Pki::new().unwrap();
    let law = Law::try_from(&Reference::default()).unwrap();
    let target = ReferenceServer::start_with(law, Some(server(&pki))).unwrap();
    let load = LoadPlan {
        model: LoadModel::Open,
        rate_per_s: Some(1000.0),
        arrivals: Some(ArrivalPlan::Poisson),
        ..closed(6)
    };
    let mut job = job(target.addr(), client(&pki, &plan(|_| {})), load, 0);
    (job.requests_max, job.timeline) = (None, Timeline::for_samples(500 * MS, 1, 2000 * MS));
    let account = run(&job).unwrap().counts.measured;
    assert!(account.scheduled > 300, "{account:?}");
    assert_eq!((account.failed_total(), account.completed + account.censored), (0, account.scheduled));
}

#[test]
fn what_is_asked_for_is_what_is_negotiated() {
    let pki = Pki::new().unwrap();
    let cases = [
        ("1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "x25519"),
        ("1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "secp256r1"),
        ("1.2", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "secp384r1"),
        ("1.3", "TLS_AES_256_GCM_SHA384", "secp384r1"),
        ("1.3", "TLS_AES_128_GCM_SHA256", "x25519"),
        ("1.3", "TLS_CHACHA20_POLY1305_SHA256", "secp256r1"),
    ];
    for (version, cipher, group) in cases {
        let peer =
            TlsPeer::start(server(&pki), vec![TlsAct::AwaitRequest, TlsAct::send(GOOD), TlsAct::Again]);
        let wanted = plan(|plan| {
            plan.versions = vec![version.to_owned()];
            plan.ciphers = vec![cipher.to_owned()];
            plan.groups = vec![group.to_owned()];
        });
        let sum = run(&job(peer.addr(), client(&pki, &wanted), closed(1), 3)).unwrap();
        assert_eq!(sum.counts.measured.completed, 3, "{cipher}");
        let record = peer.finish();
        let [got] = record.handshakes.as_slice() else { panic!("{record:?}") };
        assert_eq!(
            (got.version, got.cipher.as_str(), got.group.as_deref()),
            (version, cipher, Some(group)),
            "{record:?}"
        );
        assert_eq!((got.alpn.as_deref(), got.sni.as_deref()), (Some("http/1.1"), Some("localhost")));
    }
}

#[test]
fn an_address_is_checked_against_the_certificate_and_sends_no_sni() {
    let pki = Pki::new().unwrap();
    let peer = TlsPeer::start(server(&pki), vec![TlsAct::AwaitRequest, TlsAct::send(GOOD), TlsAct::Again]);
    let wanted = plan(|plan| {
        plan.server_name = "127.0.0.1".to_owned();
        plan.alpn = Vec::new();
    });
    run(&job(peer.addr(), client(&pki, &wanted), closed(1), 1)).unwrap();
    let record = peer.finish();
    assert_eq!((&record.handshakes[0].sni, &record.handshakes[0].alpn), (&None, &None));
}

#[test]
fn a_new_connection_for_each_request_is_one_handshake_each_resumed_where_allowed() {
    let pki = Pki::new().unwrap();
    for version in ["1.2", "1.3"] {
        for resumption in [true, false] {
            let closing = GOOD.replace("200 OK\r\n", "200 OK\r\nConnection: close\r\n");
            let script = vec![TlsAct::AwaitRequest, TlsAct::send(&closing), TlsAct::Close];
            let peer = TlsPeer::start(ticketing(&pki), script);
            let wanted = plan(|plan| {
                plan.versions = vec![version.to_owned()];
                plan.resumption = resumption;
            });
            let counts = run(&job(peer.addr(), client(&pki, &wanted), closed(1), 40)).unwrap().counts;
            assert_eq!((counts.measured.completed, counts.connects), (40, 40), "{version} {resumption}");
            // The first has no session to resume; the server counts the same.
            let full = if resumption { 1 } else { 40 };
            assert_eq!((counts.tls_full, counts.tls_resumed), (full, 40 - full), "{version} {resumption}");
            let record = peer.finish();
            let resumed = record.handshakes.iter().filter(|one| one.resumed).count() as u64;
            assert_eq!((record.handshakes.len(), resumed), (40, 40 - full), "{version} {resumption}");
        }
    }
}

#[test]
fn without_keep_alive_every_request_has_a_handshake_of_its_own() {
    let pki = Pki::new().unwrap();
    let cases = ["1.2", "1.3"].into_iter().flat_map(|version| [(version, true), (version, false)]);
    let cases = cases.flat_map(|case| engine::drivers().into_iter().map(move |driver| (driver, case)));
    for (driver, (version, resumption)) in cases {
        for connections in [1, 4] {
            // This server keeps every connection: it is the client that ends them.
            let server = TlsServer::start(ticketing(&pki)).unwrap();
            let wanted = plan(|plan| {
                plan.versions = vec![version.to_owned()];
                plan.resumption = resumption;
            });
            let mut job = job(server.addr(), client(&pki, &wanted), closed(connections), 60);
            (job.load.driver, job.load.connection.keepalive) = (driver, false);
            let sum = run(&job).unwrap();
            let counts = sum.counts;
            let case =
                format!("{driver:?}, TLS {version}, resumption {resumption}, {connections} connections");
            assert_eq!((counts.measured.completed, counts.connects), (60, 60), "{case}");
            assert_eq!((sum.times[Time::Tls].len(), sum.times[Time::Connect].len()), (60, 60), "{case}");
            // Both sides count the same: all of them full, or all but those that began before there was a session.
            let (full, resumed) = (counts.tls_full, counts.tls_resumed);
            assert_eq!((server.requests(), server.handshakes()), (60, (full + resumed, resumed)), "{case}");
            let expected = if resumption { 1..=u64::from(connections) } else { 60..=60 };
            assert!(full + resumed == 60 && expected.contains(&full), "{case}: {full} full");
        }
    }
}

#[test]
fn large_bodies_come_and_go_whole() {
    let pki = Pki::new().unwrap();
    let rng = |length: usize| (0..length).map(|i| (i * 31 % 251) as u8).collect::<Vec<u8>>();
    for version in ["1.2", "1.3"] {
        for length in [64 * 1024, 1024 * 1024] {
            let (sent, got) = (rng(length), rng(length + 7));
            let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", got.len()).into_bytes();
            answer.extend_from_slice(&got);
            let script = vec![TlsAct::AwaitRequest, TlsAct::Send(answer), TlsAct::Again];
            let peer = TlsPeer::start(server(&pki), script);
            let mut job = job(peer.addr(), client(&pki, &only(version)), closed(2), 6);
            let check = Check::new(&[200], Some(got));
            job.traffic = Traffic::single(&request(&[], &sent), "localhost", check).unwrap();
            let sum = run(&job).unwrap();
            assert_eq!(sum.counts.measured.completed, 6, "{version} {length}: {:?}", sum.examples);
            let record = peer.finish();
            assert_eq!(record.bodies.len(), 6);
            assert!(record.bodies.iter().all(|body| *body == sent), "{version} {length}: a body was changed");
        }
    }
}

#[test]
fn a_body_larger_than_the_sockets_buffers_is_sent_in_parts() {
    let pki = Pki::new().unwrap();
    // More than the system ever buffers for one connection (tcp_wmem, tcp_rmem), so that sends are cut short.
    let sent: Vec<u8> = (0..32 * 1024 * 1024_usize).map(|i| (i * 31 % 251) as u8).collect();
    let peer = TlsPeer::start(server(&pki), vec![TlsAct::AwaitRequest, TlsAct::send(GOOD), TlsAct::Again]);
    let mut job = job(peer.addr(), client(&pki, &plan(|_| {})), closed(1), 2);
    let prepared = Traffic::single(&request(&[], &sent), "localhost", Check::new(&[200], None)).unwrap();
    job.traffic = prepared;
    assert_eq!(run(&job).unwrap().counts.measured.completed, 2);
    let bodies = peer.finish().bodies;
    assert!(bodies.len() == 2 && bodies.iter().all(|body| *body == sent), "a body was changed");
}

/// Sends requests to a script and states how each must end.
fn check_script(script: Vec<TlsAct>, requests: u64, expected: &[(ErrorClass, u64)], text: &str) {
    let pki = Pki::new().unwrap();
    for version in ["1.2", "1.3"] {
        let peer = TlsPeer::start(server(&pki), script.clone());
        let mut job = job(peer.addr(), client(&pki, &only(version)), closed(1), requests);
        job.load.timeout_ns = 1000 * MS;
        let sum = run(&job).unwrap_or_else(|error| panic!("{version} {script:?}: {error}"));
        let account = sum.counts.measured;
        let failed = expected.iter().copied().collect::<BTreeMap<_, _>>();
        assert_eq!(account.failed_by_class(), failed, "{version} {script:?} {:?}", sum.examples);
        assert_eq!(account.completed, requests - account.failed_total(), "{version} {script:?}");
        assert_eq!(account.censored, 0, "{version} {script:?}");
        for (class, _) in expected {
            assert!(sum.examples[class].iter().any(|example| example.contains(text)), "{:?}", sum.examples);
        }
    }
}

#[test]
fn the_end_of_a_session_is_told_from_its_truncation() {
    use TlsAct::{Again, AwaitRequest, Close, Cut, Drip, RenewKeys};
    let send = TlsAct::send;
    let until_close = GOOD.replace("Content-Length: 31", "X: y");
    let closing = GOOD.replace("200 OK\r\n", "200 OK\r\nConnection: close\r\n");
    check_script(vec![AwaitRequest, send(GOOD), Again], 3, &[], "");
    check_script(vec![AwaitRequest, Drip(GOOD.into()), Again], 2, &[], "");
    // An answer that ends with its connection is whole only after close_notify (RFC 9112 §9.8).
    check_script(vec![AwaitRequest, send(&until_close), Close], 2, &[], "");
    check_script(vec![AwaitRequest, send(&until_close), Cut], 2, &[(ErrorClass::PrematureClose, 2)], "9.8");
    // One with a length was whole before.
    check_script(vec![AwaitRequest, send(&closing), Cut], 2, &[], "");
    check_script(vec![AwaitRequest, send(&closing), Close], 2, &[], "");
    check_script(vec![AwaitRequest, Close], 2, &[(ErrorClass::PrematureClose, 2)], "before the answer");
    check_script(vec![AwaitRequest, Cut], 2, &[(ErrorClass::PrematureClose, 2)], "close_notify");
    check_script(
        vec![AwaitRequest, send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), Close],
        2,
        &[(ErrorClass::PrematureClose, 2)],
        "before the answer",
    );
    // Bytes that are no record, in the middle of a session.
    check_script(
        vec![AwaitRequest, TlsAct::Raw(b"\x17\x03\x03\x00\x20abcdefghijklmnopqrstuvwxyz012345".to_vec())],
        2,
        &[(ErrorClass::Tls, 2)],
        "decrypt",
    );
    check_script(vec![AwaitRequest, send("SSH-2.0-x\r\n")], 2, &[(ErrorClass::Malformed, 2)], "");
    check_script(vec![AwaitRequest, TlsAct::Hold], 1, &[(ErrorClass::Timeout, 1)], "in time");
    // New keys in the middle (TLS 1.3; TLS 1.2 has none to renew and ends there).
    let pki = Pki::new().unwrap();
    let script = vec![AwaitRequest, send(GOOD), RenewKeys, Again];
    let peer = TlsPeer::start(server(&pki), script);
    let sum = run(&job(peer.addr(), client(&pki, &only("1.3")), closed(1), 5)).unwrap();
    assert_eq!((sum.counts.measured.completed, sum.counts.tls_full), (5, 1));
}

#[test]
fn connections_are_ended_with_close_notify() {
    let pki = Pki::new().unwrap();
    let script = vec![
        TlsAct::AwaitRequest,
        TlsAct::send("HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
        TlsAct::Hold,
    ];
    let peer = TlsPeer::start(server(&pki), script);
    let sum = run(&job(peer.addr(), client(&pki, &plan(|_| {})), closed(1), 3)).unwrap();
    assert_eq!(sum.counts.measured.failed_by_class(), BTreeMap::from([(ErrorClass::UnexpectedStatus, 3)]));
    let record = peer.finish();
    assert!(record.goodbyes >= 2, "{record:?}");
}

#[test]
fn wrong_certificates_have_their_class_and_text_and_insecure_takes_them() {
    let pki = Pki::new().unwrap();
    for (wrong, text) in [
        (Wrong::Expired, "certificate expired"),
        (Wrong::NotYetValid, "not valid yet"),
        (Wrong::Name, "another name"),
        (Wrong::SelfSigned, "unknown issuer"),
        (Wrong::UnknownIssuer, "unknown issuer"),
        (Wrong::Usage, "not meant for servers"),
        (Wrong::Signature, "wrong signature"),
    ] {
        let config = pki.server_config(&pki.wrong(wrong).unwrap(), false, &[]).unwrap();
        let peer = TlsPeer::start(config, vec![TlsAct::AwaitRequest, TlsAct::send(GOOD), TlsAct::Again]);
        for version in ["1.2", "1.3"] {
            let (class, example) = refusal(&job(peer.addr(), client(&pki, &only(version)), closed(2), 1));
            assert_eq!(class, ErrorClass::Tls, "{wrong:?}: {example}");
            assert!(example.contains(text), "{wrong:?}: {example}");
            let insecure = plan(|plan| {
                plan.versions = vec![version.to_owned()];
                plan.verify = false;
            });
            let sum = run(&job(peer.addr(), client(&pki, &insecure), closed(1), 2)).unwrap();
            assert_eq!(sum.counts.measured.completed, 2, "{wrong:?} {version}");
        }
        let record = peer.finish();
        assert!(record.failures.len() >= 2, "the server is told by an alert: {record:?}");
        assert!(record.failures.iter().all(|text| text.to_lowercase().contains("alert")), "{record:?}");
    }
}

#[test]
fn a_client_certificate_is_shown_where_it_is_demanded() {
    let pki = Pki::new().unwrap();
    let config = pki.server_config(pki.server(), true, &[]).unwrap();
    let foreign = pki.foreign_client().unwrap();
    for version in ["1.2", "1.3"] {
        let script = vec![TlsAct::AwaitRequest, TlsAct::send(GOOD), TlsAct::Again];
        let peer = TlsPeer::start(config.clone(), script);
        let with = |identity: Option<&testkit::certs::Identity>| {
            let identity =
                identity.map(|own| Identity { chain: vec![own.certificate().clone()], key: own.key() });
            let roots = Roots::Given(vec![pki.authority().clone()]);
            job(peer.addr(), Tls::new(&only(version), roots, identity).unwrap(), closed(1), 2)
        };
        assert_eq!(run(&with(Some(pki.client()))).unwrap().counts.measured.completed, 2, "{version}");
        for (identity, text) in [(None, "--cert"), (Some(&foreign), "alert: ")] {
            // In TLS 1.3 the client is done before the server has judged it: the alert meets the first request.
            let (class, example) = match run(&with(identity)) {
                Err(EngineError::NothingConnected { failures, example, .. }) => {
                    (*failures.keys().next().unwrap(), example)
                }
                Ok(sum) => {
                    assert_eq!(sum.counts.measured.completed, 0);
                    let class = *sum.counts.measured.failed_by_class().keys().last().unwrap();
                    (class, sum.examples[&class].join(" "))
                }
                Err(error) => panic!("{error}"),
            };
            assert_eq!(class, ErrorClass::Tls, "{version}: {example}");
            assert!(example.contains(text), "{version}: {example}");
        }
        let record = peer.finish();
        assert!(record.handshakes[0].client_certificate, "{record:?}");
    }
}

#[test]
fn settings_without_common_ground_are_told() {
    let pki = Pki::new().unwrap();
    let provider = |change: fn(&mut rustls::crypto::CryptoProvider)| {
        let mut provider = rustls::crypto::ring::default_provider();
        change(&mut provider);
        let identity = pki.server();
        let config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate().clone()], identity.key())
            .unwrap();
        Arc::new(config)
    };
    let chacha = |p: &mut rustls::crypto::CryptoProvider| {
        p.cipher_suites = vec![rustls::crypto::ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256];
    };
    let p384 = |p: &mut rustls::crypto::CryptoProvider| {
        p.kx_groups = vec![rustls::crypto::ring::kx_group::SECP384R1];
    };
    let mut speaks_h2 = ServerConfig::clone(&server(&pki));
    speaks_h2.alpn_protocols = vec![b"h2".to_vec()];
    let h2 = |names: &[&str]| {
        let alpn = names.iter().map(|name| (*name).to_owned()).collect();
        plan(|plan| plan.alpn = alpn)
    };
    for (config, wanted, text) in [
        (provider(chacha), only("1.2"), "versions"),
        (
            provider(chacha),
            plan(|plan| plan.ciphers = vec!["TLS_AES_128_GCM_SHA256".into()]),
            "alert: handshake failure",
        ),
        (provider(p384), plan(|plan| plan.groups = vec!["x25519".into()]), "alert: handshake failure"),
        (Arc::new(speaks_h2.clone()), h2(&["http/1.1"]), "alert: no application protocol"),
        (Arc::new(speaks_h2), h2(&["h2", "http/1.1"]), "other than HTTP/1.1"),
    ] {
        let peer = TlsPeer::start(config, vec![TlsAct::Hold]);
        let (class, example) = refusal(&job(peer.addr(), client(&pki, &wanted), closed(1), 1));
        assert_eq!(class, ErrorClass::Tls, "{example}");
        assert!(example.contains(text), "{text}: {example}");
    }
}

#[test]
fn servers_that_do_not_speak_tls_are_told_apart() {
    let pki = Pki::new().unwrap();
    // A fatal alert `handshake_failure`, in the clear (RFC 8446 §6).
    let alert = Act::Send(vec![0x15, 3, 3, 0, 2, 2, 40]);
    for (script, class, text) in [
        (vec![Act::send("HTTP/1.1 400 Bad Request\r\n\r\n"), Act::Hold], ErrorClass::Tls, "is not tls"),
        (vec![Act::Close], ErrorClass::Tls, "closed during"),
        (vec![alert, Act::Hold], ErrorClass::Tls, "alert: handshake failure"),
        (vec![Act::Reset], ErrorClass::Reset, "reset"),
        (
            vec![Act::Hold],
            ErrorClass::ConnectTimeout,
            "no connection was established within the connect time-out",
        ),
    ] {
        // A peer that closes with the hello unread resets: it reads a little before it does anything.
        let peer = Scripted::start(script);
        let mut job = job(peer.addr(), client(&pki, &plan(|_| {})), closed(1), 1);
        job.load.connect_timeout_ns = 300 * MS;
        let (got, example) = refusal(&job);
        let is_reset = got == ErrorClass::Reset && class == ErrorClass::Tls && text == "closed during";
        assert!(got == class || is_reset, "{class:?}: {got:?} {example}");
        assert!(is_reset || example.to_lowercase().contains(text), "{class:?}: {example}");
    }
}

/// Each origin is known by its own name: a certificate that is good for the first is not for another.
#[test]
fn further_origins_have_their_own_names() {
    let pki = Pki::new().unwrap();
    let law = || Law::try_from(&Reference::default()).unwrap();
    let targets = [(); 2].map(|()| ReferenceServer::start_with(law(), Some(ticketing(&pki))).unwrap());
    let entry = |name: &str| EntryPlan {
        name: name.into(),
        weight: 1.0,
        request: request(&[], &[]),
        ..EntryPlan::default()
    };
    let scenario =
        ScenarioPlan { requests: vec![entry("first"), entry("second")], ..ScenarioPlan::default() };
    for (name, is_right) in [("localhost", true), ("other.test", false)] {
        let tls = client(&pki, &only("1.3")).with_further(&[name.to_owned()]).unwrap();
        let mut job = job(targets[0].addr(), tls, closed(2), 40);
        job.traffic = Traffic::new(&scenario, "localhost", Seed(1), &[]).unwrap();
        job.way = Way { further: vec![targets[1].addr()], origin_of: vec![0, 1], ..Way::default() };
        let sum = run(&job).unwrap();
        let [first, second] = &sum.entries[..] else { panic!("two requests") };
        assert_eq!(
            (first.account.failed_total(), second.account.failed_total() == 0),
            (0, is_right),
            "{name}"
        );
        assert!(first.account.completed > 0 && second.account.scheduled > 0, "{name}: both were sent");
    }
    assert!(client(&pki, &only("1.3")).with_further(&["no name".to_owned()]).is_err());
}
