//! What wrk's example scripts send and print. The fixtures do what wrk's own do; where wrk's package is installed,
//! its files are run too and must give the same. Expected texts are those of wrk 4.1 itself.

use crate::bench::{Bench, done, next};
use std::path::Path;

pub(crate) const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrk");
pub(crate) const WRKS: &str = "/usr/share/doc/wrk/examples/scripts";

/// Calls `check` with the text of the example, ours and wrk's.
fn each(name: &str, check: impl Fn(&Bench, &str)) {
    for folder in [OURS, WRKS] {
        let file = Path::new(folder).join(name);
        match std::fs::read_to_string(&file) {
            Ok(text) => check(&Bench::new(), &text),
            Err(error) if folder == WRKS => println!("skipped: {}: {error}", file.display()),
            Err(error) => panic!("{}: {error}", file.display()),
        }
    }
}

#[test]
fn addr() {
    each("addr.lua", |bench, text| {
        let mut wrk = bench.load(text, 2).unwrap();
        let target = bench.host();
        assert_eq!(bench.printed(), format!("thread addr: {target}\n").repeat(2));
        let threads = wrk.take_threads();
        assert_eq!(threads.len(), 2);
        for thread in threads {
            assert_eq!(thread.address().unwrap().to_string(), target);
        }
    });
}

#[test]
fn auth() {
    each("auth.lua", |bench, text| {
        let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
        let host = bench.host();
        let before = format!("GET /authenticate HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(thread.wants_response() && thread.constant().is_none());
        assert_eq!(next(thread), before);
        let fields = [("X-Token".to_owned(), "abc".to_owned())];
        thread.response(401, &fields, b"").unwrap();
        assert_eq!(next(thread), before, "refused");
        thread.response(200, &fields, b"hello").unwrap();
        let after = format!("GET /resource HTTP/1.1\r\nHost: {host}\r\nX-Token: abc\r\n\r\n");
        assert_eq!(next(thread), after);
        thread.response(200, &[("X-Token".to_owned(), "other".to_owned())], b"hello").unwrap();
        assert_eq!(next(thread), after, "the first token stays");
    });
}

#[test]
fn counter() {
    each("counter.lua", |bench, text| {
        let mut threads = bench.load(text, 2).unwrap().take_threads();
        let host = bench.host();
        // The first thread has been asked once before.
        for (thread, first) in [(0, 1), (1, 0)] {
            for number in first..first + 12 {
                let expected =
                    format!("GET /{number} HTTP/1.1\r\nHost: {host}\r\nX-Counter: {number}\r\n\r\n");
                assert_eq!(next(&mut threads[thread]), expected);
            }
        }
    });
}

#[test]
fn delay() {
    each("delay.lua", |bench, text| {
        let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
        assert!(thread.has_delay() && !thread.wants_response());
        let sent = next(thread);
        assert_eq!(thread.constant(), Some(sent.as_bytes()));
        let millis: Vec<u64> = (0..200).map(|_| thread.delay().unwrap().unwrap().0 / 1_000_000).collect();
        assert_eq!((millis.iter().min(), millis.iter().max()), (Some(&10), Some(&50)));
    });
}

#[test]
fn pipeline() {
    each("pipeline.lua", |bench, text| {
        let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
        let host = bench.host();
        let text = next(thread);
        let three =
            ["foo", "bar", "baz"].map(|query| format!("GET /?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(text, three.concat());
        assert_eq!(thread.requests_in(text.as_bytes()), 3);
        assert_eq!(thread.requests_in(&text.as_bytes()[1..]), 3, "any method");
        assert_eq!(thread.requests_in(&text.as_bytes()[..text.len() - 1]), 0);
    });
}

#[test]
fn post() {
    each("post.lua", |bench, text| {
        let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
        let expected = format!(
            "POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 16\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\nfoo=bar&baz=quux",
            bench.host()
        );
        assert_eq!(next(thread), expected);
        assert_eq!(thread.constant(), Some(expected.as_bytes()));
        assert!(thread.delay().unwrap().is_none());
    });
}

#[test]
fn report() {
    each("report.lua", |bench, text| {
        let mut wrk = bench.load(text, 1).unwrap();
        done(&mut wrk).unwrap();
        let expected =
            "------------------------------\n50%,501000\n90%,901001\n99%,991002\n99.999%,1000001\n";
        assert_eq!(bench.printed(), expected);
    });
}

#[test]
fn setup() {
    each("setup.lua", |bench, text| {
        let mut wrk = bench.load(text, 2).unwrap();
        assert_eq!(bench.printed(), "thread 1 created\nthread 2 created\n");
        let mut threads = wrk.take_threads();
        for thread in &mut threads {
            (0..3).for_each(|_| assert!(next(thread).starts_with("GET / HTTP/1.1\r\n")));
            thread.response(200, &[], b"").unwrap();
        }
        drop(threads);
        done(&mut wrk).unwrap();
        let printed = bench.printed();
        let lines: Vec<&str> = printed.lines().skip(2).collect();
        assert_eq!(
            lines,
            ["thread 1 made 4 requests and got 1 responses", "thread 2 made 3 requests and got 1 responses"]
        );
    });
}

#[test]
fn stop() {
    each("stop.lua", |bench, text| {
        let mut threads = bench.load(text, 2).unwrap().take_threads();
        (0..99).for_each(|_| threads[0].response(200, &[], b"").unwrap());
        assert!(!threads[0].is_stopped());
        threads[0].response(200, &[], b"").unwrap();
        assert!(threads[0].is_stopped() && !threads[1].is_stopped());
    });
}
