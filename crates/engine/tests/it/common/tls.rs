//! What loads over TLS share: plans, and clients that trust a test's authority.

use engine::{Roots, Tls};
use schema::plan::TlsPlan;
use testkit::certs::Pki;

/// The plan that most loads over TLS have, changed.
pub(crate) fn plan(change: impl FnOnce(&mut TlsPlan)) -> TlsPlan {
    let mut plan = TlsPlan {
        server_name: "localhost".to_owned(),
        verify: true,
        ca_file: None,
        cert_file: None,
        key_file: None,
        versions: vec!["1.2".to_owned(), "1.3".to_owned()],
        ciphers: Vec::new(),
        groups: Vec::new(),
        alpn: vec!["http/1.1".to_owned()],
        resumption: true,
    };
    change(&mut plan);
    plan
}

/// The same with one version of TLS only.
pub(crate) fn only(version: &str) -> TlsPlan {
    plan(|plan| plan.versions = vec![version.to_owned()])
}

/// A client that trusts this authority.
pub(crate) fn client(pki: &Pki, plan: &TlsPlan) -> Tls {
    Tls::new(plan, Roots::Given(vec![pki.authority().clone()]), None).unwrap()
}
