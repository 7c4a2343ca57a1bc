//! Every format of logs, what is wrong with them, and that no line panics.

use super::*;
use proptest::prelude::*;

/// A record with its texts owned.
type Owned = (u64, String, String, u16, Option<u64>, Option<u64>);

fn parse(format: Format, line: &str) -> Result<Option<Owned>, ()> {
    let owned = |kind: LineKind<'_>| match kind {
        LineKind::Record(r) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(Some((r.time_ns, text(r.method), text(r.target), r.status, r.bytes, r.request_ns)))
        }
        LineKind::NoRequest | LineKind::Heading => Ok(None),
        LineKind::Bad => Err(()),
    };
    Parser::new(format, None).parse(line.as_bytes(), &mut { owned })
}

fn get(time_s: u64, target: &str, status: u16, bytes: Option<u64>) -> Result<Option<Owned>, ()> {
    Ok(Some((time_s * time::SECOND_NS, "GET".to_owned(), target.to_owned(), status, bytes, None)))
}

#[test]
fn apaches_own_examples_are_read() {
    let common = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
    assert_eq!(parse(Format::Common, common), get(971_211_336, "/apache_pb.gif", 200, Some(2326)));
    assert_eq!(parse(Format::Combined, common), Err(()));
    let combined =
        format!(r#"{common} "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#);
    assert_eq!(parse(Format::Combined, &combined), get(971_211_336, "/apache_pb.gif", 200, Some(2326)));
    assert_eq!(parse(Format::Common, &combined), get(971_211_336, "/apache_pb.gif", 200, Some(2326)));
}

#[test]
fn odd_requests_and_users_are_read() {
    let line = |request: &str| format!(r#"::1 - a [b [10/Oct/2000:13:55:36 -0700] "{request}" 200 -"#);
    let target = |request: &str| parse(Format::Common, &line(request)).map(|record| record.map(|r| r.2));
    assert_eq!(target(r#"GET /a\"b HTTP/1.1"#), Ok(Some(r#"/a\"b"#.to_owned())));
    assert_eq!(target("GET /a b HTTP/1.1"), Ok(Some("/a b".to_owned())));
    assert_eq!(target("GET http://h.example/x?y=1 HTTP/1.1"), Ok(Some("/x?y=1".to_owned())));
    assert_eq!(target("GET https://h.example HTTP/1.1"), Ok(Some("/".to_owned())));
    assert_eq!(target("GET HTTP://h.example/y HTTP/1.1"), Ok(Some("/y".to_owned())));
    assert_eq!(target("GET /old"), Ok(Some("/old".to_owned())));
    for none in ["-", "", r"\x16\x03\x01", "OPTIONS * HTTP/1.1", "CONNECT h:443 HTTP/1.1", "get / HTTP/1.1"] {
        assert_eq!(target(none), Ok(None), "{none}");
    }
}

#[test]
fn broken_lines_are_bad() {
    for line in [
        "",
        " ",
        "x",
        r#"1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12x"#,
        r#"1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 20 12"#,
        r#"1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1 200 12"#,
        r#"1 - - [10/Oct/2000:13:55:36] "GET / HTTP/1.1" 200 12"#,
        r#" - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 12"#,
    ] {
        assert_eq!(parse(Format::Common, line), Err(()), "{line}");
    }
    for line in [
        "{",
        "[]",
        "3",
        r#"{"status":200}"#,
        r#"{"msec":1,"status":200}"#,
        r#"{"msec":"x","status":200,"request":"GET / HTTP/1.1"}"#,
    ] {
        assert_eq!(parse(Format::Json, line), Err(()), "{line}");
    }
}

#[test]
fn json_lines_of_nginx_and_caddy_are_read() {
    let nginx = r#"{"time_iso8601":"2026-11-21T09:30:00+00:00","msec":"1795253400.250","remote_addr":"1.2.3.4",
        "request":"GET \/a?b=1 HTTP/1.1","status":"200","body_bytes_sent":"12","request_time":"0.005","x":{"y":[1]}}"#;
    let wanted =
        (1_795_253_400_250_000_000, "GET".to_owned(), "/a?b=1".to_owned(), 200, Some(12), Some(5_000_000));
    assert_eq!(parse(Format::Json, nginx), Ok(Some(wanted)));
    let caddy = r#"{"level":"info","ts":1795253400.25,"request":{"remote_ip":"1.2.3.4","method":"GET","uri":"/a?b=1",
        "headers":{"User-Agent":["x"]}},"duration":0.005,"size":12,"status":200}"#;
    let wanted =
        (1_795_253_400_250_000_000, "GET".to_owned(), "/a?b=1".to_owned(), 200, Some(12), Some(5_000_000));
    assert_eq!(parse(Format::Json, caddy), Ok(Some(wanted)));
    let local =
        r#"{"time_local":"21/Nov/2026:09:30:00 +0000","method":"GET","path":"/","status":404,"bytes":null}"#;
    assert_eq!(parse(Format::Json, local), get(1_795_253_400, "/", 404, None));
    let empty = r#"{"msec":1795253400.1,"request":"","status":400}"#;
    assert_eq!(parse(Format::Json, empty), Ok(None));
}

fn log(text: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn common_line(second: u64) -> String {
    format!(
        "10.0.0.1 - - [10/Oct/2000:13:{:02}:{:02} -0700] \"GET /{second} HTTP/1.1\" 200 1\n",
        second / 60,
        second % 60
    )
}

#[test]
fn bad_lines_are_counted_and_the_first_three_kept_with_their_numbers() {
    let mut text = String::new();
    for second in 0..120 {
        text += &common_line(second);
        if second % 20 == 3 {
            text += &format!("bad \x1b{second}\n\n");
        }
    }
    let file = log(text.as_bytes());
    let mut targets = Vec::new();
    let report =
        read(file.path(), None, |r| targets.push(String::from_utf8(r.target.to_vec()).unwrap())).unwrap();
    assert_eq!((report.format, report.lines, report.records, report.bad), (Format::Common, 126, 120, 6));
    assert_eq!(targets, (0..120).map(|second| format!("/{second}")).collect::<Vec<_>>());
    let kept: Vec<_> = report.bad_first.iter().map(|bad| (bad.line, bad.text.as_str())).collect();
    assert_eq!(kept, [(5, "bad ?3"), (27, "bad ?23"), (49, "bad ?43")]);
}

#[test]
fn a_log_of_no_known_format_is_refused_with_its_first_line() {
    let file = log(b"2026-11-21 \x07hello\nworld\n");
    let error = read(file.path(), None, |_| {}).unwrap_err().to_string();
    assert!(error.contains("line 1 is `2026-11-21 ?hello`") && error.contains("--format"), "{error}");
    let file = log(common_line(1).as_bytes());
    let error = read(file.path(), Some(Format::Json), |_| {}).unwrap_err().to_string();
    assert!(error.contains("is a JSON object"), "{error}");
    let error = read(log(b"\n\n").path(), None, |_| {}).unwrap_err().to_string();
    assert!(error.contains("is empty"), "{error}");
    let error = read(Path::new("/nowhere/x.log"), None, |_| {}).unwrap_err().to_string();
    assert!(error.contains("cannot read /nowhere/x.log"), "{error}");
}

#[test]
fn gzip_of_several_members_is_read_and_rotated_logs_are_put_in_order() {
    use std::io::Write as _;
    let mut packed = Vec::new();
    for second in 0..200 {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(common_line(second).as_bytes()).unwrap();
        packed.extend(encoder.finish().unwrap());
    }
    let (old, new) = (log(&packed), log(common_line(300).as_bytes()));
    assert_eq!(read(old.path(), None, |_| {}).unwrap().records, 200);
    let order = in_order(&[new.path().to_owned(), old.path().to_owned()], None).unwrap();
    assert_eq!(order, [old.path(), new.path()]);
    let cut = log(&packed[..packed.len() - 9]);
    assert!(read(cut.path(), None, |_| {}).unwrap_err().to_string().contains("cannot read"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_line_panics_the_parsers(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        cut in 0_usize..160,
        put in proptest::collection::vec(any::<u8>(), 0..6),
        json in any::<bool>(),
    ) {
        let base: &[u8] = if json {
            br#"{"msec":1795253400.250,"remote_addr":"1.2.3.4","request":"GET /a?b=1 HTTP/1.1","status":200,"bytes":12}"#
        } else {
            br#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://e/" "Mozilla""#
        };
        let cut = cut.min(base.len());
        let mut mutated = base[..cut].to_vec();
        mutated.extend(&put);
        mutated.extend(&base[(cut + put.len()).min(base.len())..]);
        for format in [Format::Common, Format::Combined, Format::Json] {
            for line in [&bytes, &mutated] {
                Parser::new(format, None).parse(line, &mut |kind| if let LineKind::Record(record) = kind {
                    assert!(record.target.starts_with(b"/"));
                });
            }
        }
    }
}
