//! Packets as servers send them, a login that asks for everything, and peers that send what they like.

use super::*;
use proptest::prelude::*;
use std::net::TcpListener;

const KEY: &[u8] = b"\x01-----BEGIN PUBLIC KEY-----\n\
    MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAOgBDt29y7RDz5D+gACJ8Kt07litX+m0\n\
    CCx6YU5lP3AhYOsjfOL4JG9CUC6u3SfPlBCSKjWtuhpz9EuAS0AKaU8CAwEAAQ==\n\
    -----END PUBLIC KEY-----";

/// A greeting with the nonce `0123456789abcdefghij`.
fn greeting(plugin: &str) -> Vec<u8> {
    let mut packet = b"\x0a8.4.0\0\x07\0\0\x0001234567\0\xff\xff\x2d\x02\0\xff\xff\x15".to_vec();
    packet.extend([0; 10]);
    packet.extend(b"89abcdefghij\0");
    packet.extend(plugin.bytes().chain([0]));
    packet
}

/// What a client sent to a peer that gives these packets, each after what it was sent.
fn talk(answers: Vec<Vec<u8>>, client: impl FnOnce(&mut Wire)) -> Vec<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        let mut wire = Wire { stream: listener.accept().unwrap().0, sequence: 0 };
        let mut sent = Vec::new();
        for answer in answers {
            wire.send(&answer).unwrap();
            sent.extend(wire.packet());
        }
        sent
    });
    let mut wire = Wire::connect(addr, Duration::from_secs(20)).unwrap();
    client(&mut wire);
    drop(wire);
    peer.join().unwrap()
}

#[test]
fn a_login_proves_the_password() {
    let ok = b"\0\0\0\x02\0\0\0".to_vec();
    let sent = talk(vec![greeting("mysql_native_password"), ok], |wire| wire.log_in("me", "secret").unwrap());
    let nonce = b"0123456789abcdefghij";
    let proof = login::answer(Plugin::Native, nonce, "secret");
    let expected = [b"me\0\x14", proof.as_slice(), b"mysql_native_password\0"].concat();
    assert_eq!(sent[0][32..], expected);
}

#[test]
fn a_server_that_does_not_know_the_password_gets_it_encrypted() {
    let switch = b"\xfecaching_sha2_password\0jihgfedcba9876543210\0".to_vec();
    let ok = b"\0\0\0\x02\0\0\0".to_vec();
    let answers = vec![greeting("another"), switch, b"\x01\x04".to_vec(), KEY.to_vec(), ok];
    let sent = talk(answers, |wire| wire.log_in("me", "secret").unwrap());
    let [_, proof, ask, encrypted] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(proof, &login::answer(Plugin::CachingSha2, b"jihgfedcba9876543210", "secret"));
    assert_eq!((ask.as_slice(), encrypted.len()), (&[2][..], 64));
}

#[test]
fn refusals_say_what_the_server_said() {
    let denied = b"\xff\x15\x04#28000Access denied for user".to_vec();
    talk(vec![greeting("mysql_native_password"), denied.clone()], |wire| {
        assert_eq!(wire.log_in("me", "x").unwrap_err(), "error 1045: Access denied for user");
    });
    talk(vec![b"\xff\x10\x04Too many connections".to_vec()], |wire| {
        assert_eq!(wire.log_in("me", "x").unwrap_err(), "error 1040: Too many connections");
    });
    let clear = b"\xfemysql_clear_password\0".to_vec();
    talk(vec![greeting("mysql_native_password"), clear], |wire| {
        assert!(wire.log_in("me", "x").unwrap_err().contains("`mysql_clear_password`"));
    });
}

#[test]
fn numbers_and_rows_are_read_as_they_are_sent() {
    let count = |bytes: &[u8]| Cursor(bytes).count();
    assert_eq!(
        (count(&[250]), count(&[0xfc, 1, 2]), count(&[0xfd, 1, 2, 3])),
        (Some(250), Some(513), Some(197_121))
    );
    assert_eq!(count(&[0xfe, 0, 0, 0, 0, 1, 0, 0, 0]), Some(1 << 32));
    assert_eq!((count(&[0xfb]), count(&[0xff]), count(&[0xfc, 1])), (None, None, None));
    let sent = b"\x09Questions\x0242\xfb";
    assert_eq!(row(sent, 3), Some(vec![Some("Questions".to_owned()), Some("42".to_owned()), None]));
    assert_eq!(row(sent, 4), None);
    assert!(is_end(b"\xfe\0\0\x02\0") && !is_end(b"\xfe\x01\0\0\0\0\0\0\0a"));
}

proptest! {
    #[test]
    fn nothing_that_a_peer_sends_causes_a_panic(packet in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Greeting::parse(&packet);
        let _ = Greeting::parse(&[&[10], packet.as_slice()].concat());
        let _ = (other_way(&packet), refusal(&packet), row(&packet, 3));
    }
}
