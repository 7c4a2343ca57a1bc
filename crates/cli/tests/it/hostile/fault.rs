//! The faults: what the server sends instead of a plain answer, and what prony must make of it.
//!
//! Everything is written out by hand, so that no encoder of prony's is trusted.

use super::request::Head;

/// One thing that the server does.
pub(super) enum Step {
    /// Sends these bytes with one call.
    Send(Vec<u8>),
    /// Sends them byte by byte.
    Drip(Vec<u8>),
    /// Sends the end of the stream; still reads.
    Close,
    /// Resets the connection.
    Reset,
    /// Neither reads nor sends until prony has ended.
    Hold,
}

/// When the fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Once the connection is accepted.
    Accepted,
    /// Once the header section has been read.
    Head,
    /// Once the whole request has been read.
    Request,
}

/// What becomes of the request and its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Completed; the connection serves on.
    Right,
    /// Completed; prony knows from the answer that the connection is at its end.
    RightThenGone,
    /// Completed; the server closes and does not announce it, so that a request may already be on its way.
    RightUnannounced,
    /// Failed by a complete answer; the connection serves on.
    Wrong,
    /// Failed, and the connection with it.
    Dead,
    /// A redirect that prony follows, on the same connection.
    Hop,
    /// A redirect that prony follows, on another connection.
    HopThenGone,
}

/// Who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// The server.
    Serving,
    /// Nobody.
    Refused,
    /// A listener that accepts nobody.
    Silent,
    /// A listener whose queue is full.
    Full,
}

/// One way to be hostile.
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) site: Site,
    pub(super) when: When,
    pub(super) answer: fn() -> Vec<Step>,
    pub(super) fate: Fate,
    /// The final status of the answer, where it has one.
    pub(super) status: Option<u16>,
    /// Classes under which the request may fail; the first is the usual one.
    pub(super) classes: &'static [&'static str],
    /// Whether bytes follow the answer that prony may take for the next one.
    pub(super) shifts: bool,
    /// Whether prony learns of it by a time-out only.
    pub(super) is_slow: bool,
    /// What prony is given besides.
    pub(super) args: &'static [&'static str],
}

const PLAIN: Fault = Fault {
    name: "",
    site: Site::Serving,
    when: When::Request,
    answer: Vec::new,
    fate: Fate::Right,
    status: Some(200),
    classes: &[],
    shifts: false,
    is_slow: false,
    args: &[],
};

/// The answer to a request that meets no fault.
pub(super) fn good_answer(head: &Head) -> Vec<u8> {
    let token = head.target.strip_prefix("/login/").map(|session| format!("X-Token: t{session}\r\n"));
    let body = if head.method == "HEAD" { "" } else { "ok" };
    let token = token.unwrap_or_default();
    format!("HTTP/1.1 200 OK\r\n{token}Content-Length: 2\r\n\r\n{body}").into_bytes()
}

fn send(bytes: impl AsRef<[u8]>) -> Vec<Step> {
    vec![Step::Send(bytes.as_ref().to_vec())]
}

fn then(bytes: impl AsRef<[u8]>, step: Step) -> Vec<Step> {
    vec![Step::Send(bytes.as_ref().to_vec()), step]
}

/// Completed, and the connection goes on.
const fn right(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { name, answer, ..PLAIN }
}

/// Completed, and prony closes the connection or knows that the server does.
const fn last(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { fate: Fate::RightThenGone, ..right(name, answer) }
}

/// Completed with surplus bytes behind it.
const fn surplus(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { shifts: true, ..last(name, answer) }
}

/// A complete answer with a status that is not expected.
const fn status(name: &'static str, status: u16, answer: fn() -> Vec<Step>) -> Fault {
    let classes = &["unexpected_status"];
    Fault { fate: Fate::Wrong, status: Some(status), classes, ..right(name, answer) }
}

/// Failed with this class, and the connection is of no more use.
const fn dead(name: &'static str, class: &'static [&'static str], answer: fn() -> Vec<Step>) -> Fault {
    Fault { fate: Fate::Dead, status: None, classes: class, ..right(name, answer) }
}

const fn malformed(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    dead(name, &["malformed"], answer)
}

const fn cut(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    dead(name, &["premature_close"], answer)
}

const fn reset(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    dead(name, &["reset"], answer)
}

/// Nothing more comes, and the connection stays open.
const fn stalled(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { is_slow: true, ..dead(name, &["timeout"], answer) }
}

/// Fields and body behind a status line of 200.
fn ok(rest: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{rest}")
}

/// A chunked answer.
fn chunked(body: &str) -> String {
    ok(&format!("Transfer-Encoding: chunked\r\n\r\n{body}"))
}

/// `ok`, as Python's gzip codes it.
const GZIP_OK: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x06\x00\x47\xdd\xdc\x79\x02\x00\x00\x00";

/// An answer with a gzip body.
fn gzipped(body: &[u8]) -> Vec<u8> {
    let fields = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    [ok(&fields).as_bytes(), body].concat()
}

/// Every fault.
pub(super) const FAULTS: &[&[Fault]] =
    &[GOOD, ENDING, STATUS, BROKEN_HEAD, BROKEN_BODY, CUT, RESET, SILENT, REDIRECT];

/// Unusual and right.
const GOOD: &[Fault] = &[
    right("plain", || send(ok("Content-Length: 2\r\n\r\nok"))),
    right("empty body", || send(ok("Content-Length: 0\r\n\r\n"))),
    right("one chunk", || send(chunked("2\r\nok\r\n0\r\n\r\n"))),
    right("a chunk for each byte", || {
        let chunks = "1\r\na\r\n".repeat(500);
        send(chunked(&format!("{chunks}0\r\n\r\n")))
    }),
    right("chunk extensions", || send(chunked("2;a=b;c=\"d\"\r\nok\r\n0;end\r\n\r\n"))),
    right("chunk sizes with leading zeros", || send(chunked("0002\r\nok\r\n0000\r\n\r\n"))),
    right("upper-case chunk sizes", || send(chunked(&format!("A\r\n{}\r\n0\r\n\r\n", "x".repeat(10))))),
    right("trailers", || send(chunked("2\r\nok\r\n0\r\nX-Sum: 1\r\nX-End: 2\r\n\r\n"))),
    right("trailers of 60 KiB", || {
        let trailers = format!("X-Pad: {}\r\n", "p".repeat(1000)).repeat(60);
        send(chunked(&format!("2\r\nok\r\n0\r\n{trailers}\r\n")))
    }),
    right("folded fields", || send(ok("X-Long: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nok"))),
    right("head with bare line feeds", || send("HTTP/1.1 200 OK\nContent-Length: 2\n\nok")),
    right("no reason phrase", || send("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok")),
    right("nothing after the status", || send("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")),
    right("odd case and blanks", || send(ok("cOnTeNt-lEnGtH:2   \r\nX-Empty:\r\n\r\nok"))),
    right("equal lengths twice", || send(ok("Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"))),
    right("equal lengths in one field", || send(ok("Content-Length: 2, 2\r\n\r\nok"))),
    right("length with leading zeros", || send(ok("Content-Length: 0002\r\n\r\nok"))),
    right("several codings, chunked last", || {
        send(ok("Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"))
    }),
    right("Connection: keep-alive", || send(ok("Connection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok"))),
    right("HTTP/1.0 that stays", || {
        send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
    }),
    right("header section of 60 KiB", || {
        let fields = format!("X-Pad: {}\r\n", "p".repeat(1000)).repeat(60);
        send(ok(&format!("{fields}Content-Length: 2\r\n\r\nok")))
    }),
    right("1,000 header fields", || {
        let fields: String = (0..999).map(|n| format!("X-{n}: {n}\r\n")).collect();
        send(ok(&format!("{fields}Content-Length: 2\r\n\r\nok")))
    }),
    right("a body that looks like an answer", || {
        let inner = ok("Content-Length: 2\r\n\r\nok");
        send(ok(&format!("Content-Length: {}\r\n\r\n{inner}", inner.len())))
    }),
    right("a body of 1 MiB", || send(ok(&format!("Content-Length: 1048576\r\n\r\n{}", "b".repeat(1 << 20))))),
    right("1 MiB in chunks", || {
        let chunk = format!("400\r\n{}\r\n", "b".repeat(1024));
        send(chunked(&format!("{}0\r\n\r\n", chunk.repeat(1024))))
    }),
    right("byte by byte", || vec![Step::Drip(ok("Content-Length: 2\r\n\r\nok").into())]),
    right("chunks byte by byte", || vec![Step::Drip(chunked("2;x\r\nok\r\n0\r\nA: b\r\n\r\n").into())]),
    right("100 before", || {
        send(format!("HTTP/1.1 100 Continue\r\n\r\n{}", ok("Content-Length: 2\r\n\r\nok")))
    }),
    right("32 interim answers", || {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(32);
        send(format!("{early}{}", ok("Content-Length: 2\r\n\r\nok")))
    }),
    right("102 byte by byte", || {
        let text = format!("HTTP/1.1 102 Processing\r\n\r\n{}", ok("Content-Length: 2\r\n\r\nok"));
        vec![Step::Drip(text.into())]
    }),
    Fault { status: Some(204), ..right("204", || send("HTTP/1.1 204 No Content\r\n\r\n")) },
    Fault {
        status: Some(304),
        ..right("304 with a length", || send("HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n"))
    },
    Fault {
        status: Some(302),
        ..right("redirect", || {
            send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 2\r\n\r\nok")
        })
    },
    Fault {
        when: When::Head,
        ..right("answer before the request is read", || send(ok("Content-Length: 2\r\n\r\nok")))
    },
];

/// Right, and the connection is at its end.
const ENDING: &[Fault] = &[
    last("Connection: close", || then(ok("Connection: close\r\nContent-Length: 2\r\n\r\nok"), Step::Close)),
    last("Connection: close, and it stays open", || {
        send(ok("Connection: close\r\nContent-Length: 2\r\n\r\nok"))
    }),
    last("Connection: close with chunks", || {
        then(
            ok("connection: x, CLOSE\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
            Step::Close,
        )
    }),
    last("body until the end", || then(ok("X-A: b\r\n\r\nok"), Step::Close)),
    last("empty body until the end", || then(ok("\r\n"), Step::Close)),
    last("coding without chunked, until the end", || {
        then(ok("Transfer-Encoding: gzip\r\n\r\nok"), Step::Close)
    }),
    last("HTTP/1.0 until the end", || then("HTTP/1.0 200 OK\r\n\r\nok", Step::Close)),
    last("HTTP/1.0 with a length", || then("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Step::Close)),
    surplus("length too short", || send(ok("Content-Length: 1\r\n\r\nok"))),
    surplus("two answers", || send(ok("Content-Length: 2\r\n\r\nok").repeat(2))),
    surplus("garbage behind the answer", || send(ok("Content-Length: 2\r\n\r\nok\0\0\0\0"))),
    surplus("garbage behind the last chunk", || send(chunked("2\r\nok\r\n0\r\n\r\nmore"))),
    Fault { status: Some(204), ..surplus("204 with a body", || send("HTTP/1.1 204 No Content\r\n\r\nok")) },
    Fault {
        status: Some(304),
        ..surplus("304 with a body", || send("HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok"))
    },
    Fault {
        fate: Fate::RightUnannounced,
        ..right("close without a word", || then(ok("Content-Length: 2\r\n\r\nok"), Step::Close))
    },
];

/// Whole answers that are not right.
const STATUS: &[Fault] = &[
    status("400", 400, || send("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno")),
    status("404 with chunks", 404, || {
        send("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
    }),
    status("500", 500, || send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")),
    status("503 byte by byte", 503, || {
        vec![Step::Drip(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno".to_vec())]
    }),
    status("999", 999, || send("HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\nno")),
    Fault {
        classes: &["wrong_body"],
        args: &["--expect-body", "ok"],
        ..status("another body", 200, || send(ok("Content-Length: 2\r\n\r\nOK")))
    },
    Fault {
        classes: &["wrong_body"],
        args: &["--expect-body", "ok"],
        ..status("a longer body", 200, || send(chunked("2\r\nok\r\n1\r\n!\r\n0\r\n\r\n")))
    },
    Fault {
        classes: &["check"],
        args: &["--expect-body", "ok"],
        ..status("damaged gzip", 200, || send(gzipped(&GZIP_OK[..GZIP_OK.len() - 1])))
    },
    Fault {
        classes: &["check"],
        args: &["--expect-body", "ok"],
        ..status("unknown coding", 200, || send(ok("Content-Encoding: rot13\r\nContent-Length: 2\r\n\r\nbx")))
    },
    Fault {
        fate: Fate::Dead,
        ..status("500 until the end", 500, || then("HTTP/1.1 500 No\r\n\r\nno", Step::Close))
    },
];

/// Not HTTP from its head on.
const BROKEN_HEAD: &[Fault] = &[
    malformed("HTTP/0.9", || then("<html>hello</html>", Step::Close)),
    malformed("SSH", || send("SSH-2.0-OpenSSH_9.2\r\n")),
    malformed("SMTP", || send("220 mail.example ESMTP\r\n")),
    malformed("zeros", || send([0; 64])),
    malformed("TLS alert", || send([0x15, 3, 1, 0, 2, 2, 40])),
    malformed("HTTP/2 preface", || send([0, 0, 0, 4, 0, 0, 0, 0, 0])),
    malformed("HTTP/2.0", || send("HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    malformed("status of letters", || send("HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok")),
    malformed("status of two digits", || send("HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok")),
    malformed("status 099", || send("HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok")),
    malformed("blank before the colon", || send(ok("Content-Length : 2\r\n\r\nok"))),
    malformed("field without a colon", || send(ok("Nonsense\r\nContent-Length: 2\r\n\r\nok"))),
    malformed("NUL in a value", || send(ok("X-A: a\0b\r\nContent-Length: 2\r\n\r\nok"))),
    malformed("bare carriage return in a value", || send(ok("X-A: a\rb\r\nContent-Length: 2\r\n\r\nok"))),
    malformed("empty field name", || send(ok(": a\r\nContent-Length: 2\r\n\r\nok"))),
    malformed("header section over 64 KiB", || {
        let fields = format!("X-Pad: {}\r\n", "p".repeat(1000)).repeat(70);
        send(ok(&format!("{fields}Content-Length: 2\r\n\r\nok")))
    }),
    malformed("1,100 header fields", || {
        let fields: String = (0..1100).map(|n| format!("X-{n}: {n}\r\n")).collect();
        send(ok(&format!("{fields}Content-Length: 2\r\n\r\nok")))
    }),
    malformed("a header line without end", || send(ok(&format!("X-Pad: {}", "p".repeat(80_000))))),
    malformed("33 interim answers", || {
        let early = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(33);
        send(format!("{early}{}", ok("Content-Length: 2\r\n\r\nok")))
    }),
    malformed("101", || send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")),
    malformed("negative length", || send(ok("Content-Length: -1\r\n\r\n"))),
    malformed("length of letters", || send(ok("Content-Length: two\r\n\r\nok"))),
    malformed("length with a sign", || send(ok("Content-Length: +2\r\n\r\nok"))),
    malformed("hexadecimal length", || send(ok("Content-Length: 0x2\r\n\r\nok"))),
    malformed("length of 20 digits", || send(ok("Content-Length: 99999999999999999999\r\n\r\nok"))),
    malformed("no length in the field", || send(ok("Content-Length:\r\n\r\nok"))),
    malformed("two lengths", || send(ok("Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!"))),
    malformed("two lengths in one field", || send(ok("Content-Length: 2, 3\r\n\r\nok!"))),
    malformed("length and chunks", || {
        send(ok("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"))
    }),
];

/// A body whose framing is broken.
const BROKEN_BODY: &[Fault] = &[
    malformed("chunk size of 17 digits", || send(chunked("FFFFFFFFFFFFFFFFF\r\nok\r\n"))),
    malformed("chunk size of 2^64", || send(chunked("10000000000000000\r\nok\r\n"))),
    malformed("negative chunk size", || send(chunked("-2\r\nok\r\n0\r\n\r\n"))),
    malformed("chunk size with 0x", || send(chunked("0x2\r\nok\r\n0\r\n\r\n"))),
    malformed("chunk size of letters", || send(chunked("two\r\nok\r\n0\r\n\r\n"))),
    malformed("no chunk size", || send(chunked("\r\nok\r\n0\r\n\r\n"))),
    malformed("chunks with bare line feeds", || send(chunked("2\nok\n0\n\n"))),
    malformed("chunk longer than its size", || send(chunked("2\r\nokay\r\n0\r\n\r\n"))),
    malformed("chunk shorter than its size", || send(chunked("9\r\nok\r\n0\r\n\r\n2\r\nok\r\n0\r\n\r\n"))),
    malformed("chunk extension of 5 KiB", || {
        send(chunked(&format!("2;{}\r\nok\r\n0\r\n\r\n", "e".repeat(5000))))
    }),
    malformed("trailers over 64 KiB", || {
        let trailers = format!("X-Pad: {}\r\n", "p".repeat(1000)).repeat(70);
        send(chunked(&format!("2\r\nok\r\n0\r\n{trailers}\r\n")))
    }),
];

/// Closed too early.
const CUT: &[Fault] = &[
    Fault {
        when: When::Accepted,
        ..dead("closed once accepted", &["premature_close", "reset"], || vec![Step::Close])
    },
    Fault { when: When::Head, ..cut("closed before the body is read", || vec![Step::Close]) },
    cut("closed before the answer", || vec![Step::Close]),
    cut("closed in the status line", || then("HTTP/1.", Step::Close)),
    cut("closed in a header field", || then(ok("Content-Le"), Step::Close)),
    cut("closed before the blank line", || then(ok("Content-Length: 2\r\n"), Step::Close)),
    cut("closed before the body", || then(ok("Content-Length: 2\r\n\r\n"), Step::Close)),
    cut("closed in the body", || then(ok("Content-Length: 2\r\n\r\no"), Step::Close)),
    cut("closed in the body, byte by byte", || {
        vec![Step::Drip(ok("Content-Length: 9\r\n\r\nok").into()), Step::Close]
    }),
    cut("closed in a chunk size", || then(chunked("2"), Step::Close)),
    cut("closed in a chunk", || then(chunked("9\r\nok"), Step::Close)),
    cut("closed between chunks", || then(chunked("2\r\nok\r\n"), Step::Close)),
    cut("closed in the last chunk", || then(chunked("2\r\nok\r\n0\r\n"), Step::Close)),
    cut("closed in a trailer", || then(chunked("2\r\nok\r\n0\r\nX-Su"), Step::Close)),
    cut("closed after an interim answer", || then("HTTP/1.1 100 Continue\r\n\r\n", Step::Close)),
    cut("length longer than a large body", || {
        then(ok(&format!("Content-Length: 1048577\r\n\r\n{}", "b".repeat(1 << 20))), Step::Close)
    }),
];

/// Reset at each stage.
const RESET: &[Fault] = &[
    Fault {
        when: When::Accepted,
        ..dead("reset once accepted", &["reset", "premature_close"], || vec![Step::Reset])
    },
    Fault { when: When::Head, ..reset("reset before the body is read", || vec![Step::Reset]) },
    reset("reset before the answer", || vec![Step::Reset]),
    reset("reset in the status line", || then("HTTP/1.1 2", Step::Reset)),
    reset("reset in a header field", || then(ok("Content-Le"), Step::Reset)),
    reset("reset in the body", || then(ok("Content-Length: 2\r\n\r\no"), Step::Reset)),
    reset("reset in a chunk", || then(chunked("9\r\nok"), Step::Reset)),
    reset("reset in a body until the end", || then(ok("\r\nok"), Step::Reset)),
];

/// Nothing comes.
const SILENT: &[Fault] = &[
    stalled("silent", Vec::new),
    stalled("silent in the status line", || send("HTTP/1")),
    stalled("silent in a header field", || send(ok("Content-Length"))),
    stalled("silent in the body", || send(ok("Content-Length: 9\r\n\r\nok"))),
    stalled("silent in a chunk", || send(chunked("9\r\nok"))),
    stalled("silent after an interim answer", || send("HTTP/1.1 100 Continue\r\n\r\n")),
    Fault { when: When::Head, ..stalled("reads no body", || vec![Step::Hold]) },
    Fault { site: Site::Silent, ..stalled("accepts nobody", Vec::new) },
    Fault { site: Site::Refused, ..dead("nobody listens", &["refused"], Vec::new) },
    Fault {
        site: Site::Full,
        is_slow: true,
        args: &["--connect-timeout", "500ms"],
        ..dead("full queue", &["connect_timeout"], Vec::new)
    },
];

/// A redirect that is followed, to one of the targets that the server knows as hops.
const fn hop(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { fate: Fate::Hop, status: None, classes: &["redirect"], args: FOLLOW, ..right(name, answer) }
}

/// A redirect that is not followed: an answer that fails its request.
const fn stray(name: &'static str, answer: fn() -> Vec<Step>) -> Fault {
    Fault { classes: &["redirect"], args: FOLLOW, ..status(name, 302, answer) }
}

pub(super) const FOLLOW: &[&str] = &["--follow=3"];

fn found(location: &str) -> Vec<Step> {
    send(format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 2\r\n\r\nno"))
}

/// Redirects, while prony follows up to three for a request.
const REDIRECT: &[Fault] = &[
    hop("302 to another path", || found("/hop")),
    hop("302 to a relative path", || found("/x/../hop/a b#part")),
    hop("302 with folded blanks", || found("   /hop?x=http://other/   ")),
    hop("301 in chunks, byte by byte", || {
        let head =
            "HTTP/1.1 301 Moved\r\nTransfer-Encoding: chunked\r\nlocation:/hop\r\n\r\n2\r\nno\r\n0\r\n\r\n";
        vec![Step::Drip(head.into())]
    }),
    hop("303 without a body", || {
        send("HTTP/1.1 303 See Other\r\nLocation: /hop\r\nContent-Length: 0\r\n\r\n")
    }),
    hop("307 keeps the request", || {
        send("HTTP/1.1 307 There\r\nLocation: /hop\r\nLocation: /hop\r\nContent-Length: 2\r\n\r\nno")
    }),
    hop("308 with a long location", || {
        let path = "p".repeat(8000);
        send(format!("HTTP/1.1 308 There\r\nLocation: /hop/{path}\r\nContent-Length: 2\r\n\r\nno"))
    }),
    hop("a loop of redirects", || found("/loop/1")),
    Fault {
        fate: Fate::HopThenGone,
        ..hop("302 and close", || {
            then("HTTP/1.1 302 Found\r\nLocation: /hop\r\nConnection: close\r\n\r\n", Step::Close)
        })
    },
    Fault {
        fate: Fate::HopThenGone,
        ..hop("307 until the end", || then("HTTP/1.1 307 There\r\nLocation: /hop\r\n\r\nno", Step::Close))
    },
    Fault {
        status: Some(300),
        args: FOLLOW,
        ..right("300 is an answer", || {
            send("HTTP/1.1 300 Choices\r\nLocation: /hop\r\nContent-Length: 2\r\n\r\nok")
        })
    },
    Fault {
        status: Some(304),
        args: FOLLOW,
        ..right("304 is an answer", || send("HTTP/1.1 304 Not Modified\r\nLocation: /hop\r\n\r\n"))
    },
    stray("302 without a location", || send("HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nno")),
    stray("an empty location", || found("")),
    stray("another origin", || found("http://198.51.100.1/hop")),
    stray("another scheme", || found("https:///hop")),
    stray("another port", || found("//127.0.0.1:9/hop")),
    stray("a scheme that is no place", || found("javascript:alert(1)")),
    stray("a location with a user", || found("http://u:p@127.0.0.1/hop")),
    stray("a location folded over lines", || found("/hop\r\n Host: evil")),
    stray("a location with a tab", || found("/hop\tx")),
    stray("two locations", || found("/hop\r\nLocation: /other")),
    stray("a location of 9,000 bytes", || found(&format!("/{}", "p".repeat(9000)))),
    Fault {
        args: FOLLOW,
        ..malformed("a location of 1 MiB", || found(&format!("/{}", "p".repeat(1 << 20))))
    },
    Fault { args: FOLLOW, ..malformed("a location with a NUL", || found("/hop\0")) },
];

/// Answers to HEAD: never a body, whatever the header section says.
pub(super) const TO_HEAD: &[Fault] = &[
    right("HEAD", || send(ok("Content-Length: 1000\r\n\r\n"))),
    right("HEAD with chunked", || send(ok("Transfer-Encoding: chunked\r\n\r\n"))),
    right("HEAD without framing", || send(ok("X-A: b\r\n\r\n"))),
    surplus("HEAD with a body", || send(ok("Content-Length: 2\r\n\r\nok"))),
];
