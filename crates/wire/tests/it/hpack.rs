//! HPACK against the examples of RFC 7541 appendix C, another implementation, and hostile blocks.

use proptest::prelude::*;
use wire::hpack::{
    Decoder, Encoder, FIELDS_MAX, FieldList, HpackError, LIST_BYTES_MAX, push_field, push_scheme, push_value,
};

type Fields = Vec<(String, String)>;
type RawFields = Vec<(Vec<u8>, Vec<u8>)>;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| (byte as char).to_digit(16).unwrap() as u8)
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn texts(list: &FieldList) -> Fields {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    list.iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, HpackError> {
    let mut list = FieldList::default();
    decoder.decode(block, &mut list).map(|()| texts(&list))
}

/// Lines of `name: value`.
fn fields(lines: &str) -> Fields {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let colon = line[1..].find(": ").unwrap() + 1;
            (line[..colon].to_owned(), line[colon + 2..].to_owned())
        })
        .collect()
}

/// Blocks of one connection and what they say.
fn check(table_bytes: u32, blocks: &[(&str, &str)]) {
    let mut decoder = Decoder::new(4096);
    if table_bytes != 4096 {
        // The examples begin with a table of this size, which a peer announces.
        let mut update = vec![0x3f];
        let mut rest = table_bytes - 31;
        while rest >= 0x80 {
            update.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        update.push(rest as u8);
        assert_eq!(decoded(&mut decoder, &update), Ok(vec![]));
    }
    for (hex, lines) in blocks {
        assert_eq!(decoded(&mut decoder, &bytes(hex)), Ok(fields(lines)), "{hex}");
    }
}

/// RFC 7541 appendix C.2.
#[test]
fn kinds_of_fields() {
    check(
        4096,
        &[("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header")],
    );
    check(4096, &[("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path")]);
    check(4096, &[("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret")]);
    check(4096, &[("82", ":method: GET")]);
}

const REQUESTS: [&str; 3] = [
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com",
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache",
    ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value",
];

/// RFC 7541 appendix C.3.
#[test]
fn requests_without_huffman() {
    check(
        4096,
        &[
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", REQUESTS[0]),
            ("8286 84be 5808 6e6f 2d63 6163 6865", REQUESTS[1]),
            ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", REQUESTS[2]),
        ],
    );
}

const REQUESTS_CODED: [&str; 3] = [
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
];

/// RFC 7541 appendix C.4, in both directions.
#[test]
fn requests_with_huffman() {
    let blocks: Vec<_> = REQUESTS_CODED.into_iter().zip(REQUESTS).collect();
    check(4096, &blocks);
    let mut encoder = Encoder::new(false);
    // The last example is of another scheme, which a connection never is.
    for (hex, lines) in &blocks[..2] {
        let mut out = Vec::new();
        encoder.encode(&parts(&fields(lines)), true, &mut out);
        assert_eq!(out, bytes(hex));
    }
    let mut out = Vec::new();
    encoder.encode(&parts(&fields(REQUESTS[2])), true, &mut out);
    let mut wanted = bytes(REQUESTS_CODED[2]);
    wanted[1] = 0x86;
    assert_eq!(out, wanted);
}

const ANSWERS: [&str; 3] = [
    ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n\
     content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

/// RFC 7541 appendix C.5: a table of 256 bytes, so that entries are dropped.
#[test]
fn answers_without_huffman() {
    check(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 \
                 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                ANSWERS[0],
            ),
            ("4803 3330 37c1 c0bf", ANSWERS[1]),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 \
                 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 \
                 3630 303b 2076 6572 7369 6f6e 3d31",
                ANSWERS[2],
            ),
        ],
    );
}

/// RFC 7541 appendix C.6.
#[test]
fn answers_with_huffman() {
    check(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 \
                 63c7 8f0b 97c8 e9ae 82ae 43d3",
                ANSWERS[0],
            ),
            ("4883 640e ffc1 c0bf", ANSWERS[1]),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 \
                 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                ANSWERS[2],
            ),
        ],
    );
}

/// The parts of a fixed request.
fn parts(fields: &Fields) -> Vec<u8> {
    let mut parts = Vec::new();
    for (name, value) in fields {
        if name == ":scheme" {
            push_scheme(&mut parts);
        } else {
            push_field(name.as_bytes(), value.as_bytes(), &mut parts);
        }
    }
    parts
}

fn block(encoder: &mut Encoder, parts: &[u8], is_fixed: bool) -> Vec<u8> {
    let mut out = b"before".to_vec();
    let length = encoder.encode(parts, is_fixed, &mut out);
    assert_eq!(out.len(), length + 6);
    out.split_off(6)
}

#[test]
fn a_warm_block_is_indices_alone() {
    let request = fields(REQUESTS[2].replace("https", "http").as_str());
    let parts = parts(&request);
    let (mut encoder, mut decoder) = (Encoder::new(false), Decoder::new(4096));
    let first = block(&mut encoder, &parts, true);
    assert!(first.len() > 30, "{first:?}");
    let warm = bytes("8286 85bf be");
    let other = parts_of_other();
    for round in 0..4 {
        let sent = if round == 0 { first.clone() } else { block(&mut encoder, &parts, true) };
        assert!(round == 0 || sent == warm, "{sent:x?}");
        assert_eq!(decoded(&mut decoder, &sent), Ok(request.clone()));
    }
    // Another request enters the table, so the indices move.
    decoded(&mut decoder, &block(&mut encoder, &other, true)).unwrap();
    for _ in 0..3 {
        let sent = block(&mut encoder, &parts, true);
        assert_eq!(sent, bytes("8286 85c0 bf"));
        assert_eq!(decoded(&mut decoder, &sent), Ok(request.clone()));
    }
}

fn parts_of_other() -> Vec<u8> {
    let mut other = Vec::new();
    push_field(b"x-other", b"1", &mut other);
    other
}

#[test]
fn warm_blocks_allocate_nothing() {
    let parts = parts(&fields(REQUESTS[1]));
    let mut encoder = Encoder::new(true);
    let mut out = Vec::with_capacity(4096);
    for _ in 0..3 {
        encoder.encode(&parts, true, &mut out);
    }
    let (mut decoder, mut list) = (Decoder::new(4096), FieldList::default());
    decoder.decode(&bytes(REQUESTS_CODED[0]), &mut list).unwrap();
    let counted = allocation_counter::measure(|| {
        out.clear();
        encoder.encode(&parts, true, &mut out);
        encoder.encode(&parts, false, &mut out);
        decoder.decode(&bytes_of(&out), &mut list).ok();
    });
    assert_eq!(counted.count_total, 0);
}

/// Any block will do; it is on the stack so that nothing is counted for it.
fn bytes_of(_: &[u8]) -> [u8; 3] {
    [0x82, 0x86, 0x84]
}

#[test]
fn a_small_table_of_the_peer_is_kept_to() {
    let request = fields(&REQUESTS[2].replace("https", "http"));
    let parts = parts(&request);
    for limit in [0_u32, 31, 60, 128, 4096, 1 << 20] {
        let mut encoder = Encoder::new(false);
        let mut decoder = Decoder::new(limit);
        let mut sizes = Vec::new();
        encoder.limit(limit);
        for _ in 0..4 {
            let sent = block(&mut encoder, &parts, true);
            assert_eq!(decoded(&mut decoder, &sent), Ok(request.clone()), "{limit}");
            sizes.push(sent.len());
        }
        assert_eq!(sizes[2], sizes[3]);
        assert_eq!(limit < 57 + 54, sizes[3] > 20, "{limit}: {sizes:?}");
        // The peer changes its mind in the middle.
        for later in [0, 4096, 60, 200] {
            encoder.limit(later);
            decoder = Decoder::new(later.max(4096));
            for _ in 0..3 {
                assert_eq!(decoded(&mut decoder, &block(&mut encoder, &parts, true)), Ok(request.clone()));
            }
        }
    }
}

#[test]
fn more_fields_than_a_table_takes_stay_outside() {
    let (mut encoder, mut decoder) = (Encoder::new(false), Decoder::new(4096));
    for round in 0..3 {
        for number in 0..200 {
            let request =
                fields(&format!(":path: /{number}\nx-a: {number}\ncookie: {}", "y".repeat(300 + number)));
            let sent = block(&mut encoder, &parts(&request), true);
            assert_eq!(decoded(&mut decoder, &sent), Ok(request), "{round} {number}");
        }
    }
}

#[test]
fn hostile_blocks_are_refused() {
    use HpackError::*;
    let over = |block: &[u8]| decoded(&mut Decoder::new(4096), block).unwrap_err();
    for (hex, error) in [
        ("80", Index),
        ("be", Index),
        ("ff ffff ffff ff", Integer),
        ("ff ff", CutOff),
        ("40", CutOff),
        ("40 0a 61", CutOff),
        ("40 01 61 81", CutOff),
        ("40 01 61 81 fe", Huffman),
        ("82 20", LateUpdate),
        ("3f e2 1f", UpdateTooLarge),
        ("7f ff 00", Index),
    ] {
        assert_eq!(over(&bytes(hex)), error, "{hex}");
    }
    assert_eq!(decoded(&mut Decoder::new(0), &[0x82]), Err(UpdateMissing));
    assert_eq!(decoded(&mut Decoder::new(0), &[0x20, 0x82]).unwrap().len(), 1);
    // A bomb: an entry of 4,000 bytes, and a byte for each time that it is said.
    let mut bomb = vec![0x40, 0x01, b'a', 0x7f, 0xa1, 0x1e];
    bomb.extend([b'x'; 4000]);
    bomb.extend([0xbe; 20]);
    assert_eq!(over(&bomb), ListTooLong);
    const { assert!(LIST_BYTES_MAX < 21 * 4000) };
    assert_eq!(over(&[0x82; FIELDS_MAX + 1]), TooManyFields);
    assert_eq!(decoded(&mut Decoder::new(4096), &[0x82; FIELDS_MAX]).unwrap().len(), FIELDS_MAX);
}

/// Names and values as they may come, with some that repeat.
fn any_fields() -> impl Strategy<Value = Fields> {
    let name = prop_oneof![
        prop::sample::select(vec![":path", ":status", "content-type", "etag", "x-a", "x-b"])
            .prop_map(str::to_owned),
        "[a-z-]{1,12}",
    ];
    let value = prop_oneof!["[ -~]{0,40}", Just("same".to_owned()), Just("200".to_owned()), "\\PC{0,12}"];
    prop::collection::vec((name, value), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// What we write, both decoders read; what the other writes, we read.
    #[test]
    fn another_implementation_agrees(lists in prop::collection::vec((any_fields(), any::<bool>()), 1..8), small: bool) {
        let limit = if small { 100 } else { 4096 };
        let mut encoder = Encoder::new(false);
        let mut theirs = loona_hpack::Decoder::new();
        let mut ours = Decoder::new(limit);
        encoder.limit(limit);
        for (list, is_fixed) in &lists {
            let sent = block(&mut encoder, &parts(list), *is_fixed);
            prop_assert_eq!(decoded(&mut ours, &sent).unwrap(), list.clone());
            let read = theirs.decode(&sent).unwrap();
            let wanted: Vec<_> = list.iter().map(|(name, value)| (name.clone().into_bytes(), value.clone().into_bytes())).collect();
            prop_assert_eq!(read, wanted);
        }
        let (mut theirs, mut ours) = (loona_hpack::Encoder::new(), Decoder::new(4096));
        for (list, _) in &lists {
            let sent = theirs.encode(list.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
            prop_assert_eq!(decoded(&mut ours, &sent).unwrap(), list.clone());
        }
    }

    /// Values that differ from request to request enter no table.
    #[test]
    fn values_are_literals(list in any_fields()) {
        let mut written = Vec::new();
        for (name, value) in &list {
            let mut key = Vec::new();
            key.push(0);
            key.push(name.len() as u8);
            key.extend(name.as_bytes());
            push_value(&key, value.as_bytes(), &mut written);
        }
        let (mut encoder, mut decoder) = (Encoder::new(false), Decoder::new(4096));
        let before = decoder.generation();
        prop_assert_eq!(decoded(&mut decoder, &block(&mut encoder, &written, false)).unwrap(), list);
        prop_assert_eq!(decoder.generation(), before);
    }

    /// Blocks of any bytes: never a panic, and of one mind with the other where both take them.
    #[test]
    fn arbitrary_blocks(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..4)) {
        let (mut ours, mut theirs) = (Decoder::new(4096), loona_hpack::Decoder::new());
        theirs.set_max_allowed_table_size(4096);
        for block in &blocks {
            let Ok(got) = decoded_bytes(&mut ours, block) else { break };
            let Ok(read) = theirs.decode(block) else { break };
            prop_assert_eq!(got, read);
        }
    }
}

fn decoded_bytes(decoder: &mut Decoder, block: &[u8]) -> Result<RawFields, HpackError> {
    let mut list = FieldList::default();
    decoder.decode(block, &mut list)?;
    Ok(list.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect())
}
