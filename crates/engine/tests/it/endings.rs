//! Connections that end while a large request is still being sent: a reset stays a reset, an orderly close a close.
//!
//! The kernel reports a failed send of which some bytes were taken by their number and drops the error; what is read
//! behind it looks like an orderly end. Every request of these loads meets that race.

use crate::common::{MS, prepared, run, short_load};
use schema::load::ErrorClass;
use std::collections::BTreeMap;
use testkit::script::{Act, Scripted};

const REQUESTS: u64 = 120;
/// More than both socket buffers hold.
const BODY_BYTES: usize = 16 << 20;

/// Each request on a connection of its own meets `script` while its body is on the way; how they ended.
fn ends(script: &[Act], pipeline: u32) -> Vec<(&'static str, BTreeMap<ErrorClass, u64>)> {
    let one = |driver| {
        let peer = Scripted::start(script.to_vec());
        let mut job =
            short_load(peer.addr(), driver, 4, REQUESTS, prepared("POST", vec![b'x'; BODY_BYTES], None));
        job.load.timeout_ns = 10_000 * MS;
        job.load.connection.pipeline = pipeline;
        let account = run(&job).unwrap().counts.measured;
        assert_eq!(account.completed, 0, "{account:?}");
        (driver.key(), account.failed_by_class())
    };
    engine::drivers().into_iter().map(one).collect()
}

#[test]
fn a_reset_is_never_taken_for_a_close() {
    for pipeline in [1, 16] {
        for (driver, failed) in ends(&[Act::AwaitRequest, Act::Reset], pipeline) {
            assert_eq!(
                failed.keys().copied().collect::<Vec<_>>(),
                [ErrorClass::Reset],
                "{driver}, {pipeline}: {failed:?}"
            );
        }
    }
}

#[test]
fn an_orderly_close_is_seen_while_a_send_waits() {
    for (driver, failed) in ends(&[Act::AwaitRequest, Act::HalfClose, Act::Hold], 1) {
        assert_eq!(failed, BTreeMap::from([(ErrorClass::PrematureClose, REQUESTS)]), "{driver}");
    }
}
