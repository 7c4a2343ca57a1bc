//! No parser panics, whatever the bytes: arbitrary ones, and real files cut short or with a byte changed.

use collect::{go_runtime, host_load, host_stat, process, tcp_netstat, tcp_snmp, tcp_sockstat};
use proptest::prelude::*;

const FIXTURES: [&[u8]; 11] = [
    include_bytes!("../../fixtures/proc/stat"),
    include_bytes!("../../fixtures/proc/loadavg"),
    include_bytes!("../../fixtures/proc/pressure/cpu"),
    include_bytes!("../../fixtures/proc/net/netstat"),
    include_bytes!("../../fixtures/proc/net/snmp"),
    include_bytes!("../../fixtures/proc/net/sockstat"),
    include_bytes!("../../fixtures/proc/process/stat"),
    include_bytes!("../../fixtures/proc/process/thread_status"),
    include_bytes!("../../fixtures/proc/process/schedstat"),
    include_bytes!("../../fixtures/go/first.json"),
    include_bytes!("../../fixtures/go/second.json"),
];

/// Every parser on the same bytes, and every delta on what came out, in both directions.
fn feed(bytes: &[u8]) {
    let plain = [
        host_stat::parse(bytes, 10_000_000),
        host_load::parse(bytes, None),
        host_load::parse(b"0 0 0 1/2 3", Some(bytes)),
        tcp_netstat::parse(bytes),
        tcp_snmp::parse(bytes),
        tcp_sockstat::parse(bytes),
    ];
    for (this, that) in plain.iter().flatten().zip(plain.iter().flatten().skip(1)) {
        let _ = collect::reading::delta(this, that);
        let _ = collect::reading::delta(that, this);
    }
    if let Ok(reading) = go_runtime::parse(bytes) {
        let fresh = go_runtime::parse(FIXTURES[9]).expect("a fixture");
        let _ = go_runtime::delta(&fresh, &reading);
        let _ = go_runtime::delta(&reading, &fresh);
    }
    let _ = process::parse::stat(bytes);
    let _ = process::parse::schedstat(bytes);
    let _ = process::parse::status(bytes);
    let _ = process::parse::children(bytes);
}

#[test]
fn every_fixture_is_understood_by_its_parser() {
    assert!(host_stat::parse(FIXTURES[0], 10_000_000).is_ok());
    assert!(host_load::parse(FIXTURES[1], Some(FIXTURES[2])).is_ok());
    assert!(tcp_netstat::parse(FIXTURES[3]).is_ok());
    assert!(tcp_snmp::parse(FIXTURES[4]).is_ok());
    assert!(tcp_sockstat::parse(FIXTURES[5]).is_ok());
    assert!(process::parse::stat(FIXTURES[6]).is_ok());
    assert!(process::parse::status(FIXTURES[7]).is_ok());
    assert!(process::parse::schedstat(FIXTURES[8]).is_ok());
    assert!(go_runtime::parse(FIXTURES[9]).is_ok() && go_runtime::parse(FIXTURES[10]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        feed(&bytes);
    }

    #[test]
    fn lines_of_words_and_numbers(text in "((cpu|TCP:|TcpExt:|Tcp:|some|ctxt|[a-z)=]{1,4}|-?[0-9]{1,22}|/)[ \n]){0,60}") {
        feed(text.as_bytes());
    }

    #[test]
    fn real_files_cut_or_damaged(
        which in 0..FIXTURES.len(),
        cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let whole = FIXTURES[which];
        feed(&whole[..cut.index(whole.len())]);
        let mut damaged = whole.to_vec();
        damaged[at.index(whole.len())] = byte;
        feed(&damaged);
    }
}
