//! HTTP/2 over TLS: agreed on by ALPN, or the class says that it was not.

use super::{closed, ends, on_every_driver, run};
use crate::common::tls::{client, plan};
use engine::{EngineError, Generator};
use schema::load::ErrorClass;
use std::sync::atomic::Ordering::SeqCst;
use testkit::certs::Pki;
use testkit::http2::{Act, Raw};

#[test]
fn a_server_that_agrees_is_loaded() {
    let pki = Pki::new().unwrap();
    let tls = client(&pki, &plan(|plan| plan.alpn = vec!["h2".to_owned()]));
    on_every_driver(|driver| {
        let config = pki.server_config(pki.server(), false, &[b"h2"]).unwrap();
        let peer = Raw::start_tls(config, vec![vec![Act::Settings(vec![]), Act::Serve]]);
        let mut job = closed(peer.addr(), driver, (2, 10), 400);
        job.tls = Some(tls.clone());
        assert_eq!(ends(&run(&job)), [400, 400, 0, 0], "{driver:?}");
        assert_eq!(peer.seen().requests.load(SeqCst), 400, "{driver:?}");
    });
}

#[test]
fn a_server_that_does_not_agree_is_a_fault_of_the_protocol() {
    let pki = Pki::new().unwrap();
    let tls = client(&pki, &plan(|plan| plan.alpn = vec!["h2".to_owned()]));
    on_every_driver(|driver| {
        // One that negotiates nothing, and one that refuses.
        for alpn in [&[][..], &[&b"http/1.1"[..]]] {
            let config = pki.server_config(pki.server(), false, alpn).unwrap();
            let peer = Raw::start_tls(config, vec![vec![Act::Hold]]);
            let mut job = closed(peer.addr(), driver, (1, 1), 1);
            job.tls = Some(tls.clone());
            match Generator::start(&job) {
                Err(EngineError::NothingConnected { failures, example, .. }) => {
                    assert_eq!(failures.keys().collect::<Vec<_>>(), [&ErrorClass::Protocol]);
                    assert!(example.contains("--http 1.1"), "{example}");
                }
                other => panic!("{driver:?}: {other:?}"),
            }
        }
    });
}
