//! Faults of scripts: each is planted, and named with its place.

use crate::bench::{Bench, done, next};
use units::Nanos;

fn check_load(text: &str, expected: &str) {
    let bench = Bench::new();
    let error = bench.load(text, 1).err().unwrap_or_else(|| panic!("loaded: {text}"));
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn before_the_load() {
    for (text, expected) in [
        ("local x\nx = = 1", "s.lua:2: unexpected symbol near '='"),
        ("#!/usr/bin/wrk\nx()", "s.lua:2: attempt to call global 'x' (a nil value)"),
        ("\n\nerror('at the top')", "s.lua:3: at the top"),
        ("function setup(t)\n  t:set('f', print)\nend", "s.lua:2: cannot transfer 'function' to thread"),
        ("function setup(t)\n  t.speed = 3\nend", "s.lua:2: cannot set 'number' on thread; use thread:set()"),
        (
            "function setup(t)\n  t.addr = '127.0.0.1'\nend",
            "s.lua:2: an address is expected, got string; use one that wrk.lookup() returned",
        ),
        (
            "function init(args)\n  local n = args[1] + 1\nend",
            "s.lua:2: attempt to perform arithmetic on a nil value",
        ),
        (
            "function init()\n  wrk.format(nil, '/', 'X: y')\nend",
            "s.lua:2: attempt to index local 'headers' (a string value)",
        ),
        ("function request()\n  error('boom')\nend", "s.lua:2: boom"),
        ("function request() end", "s.lua: request() returned nil; it must return the text of a request"),
        (
            "function request()\n  return 'GET / HTTP/1.1\\r\\nHost: a\\r\\n'\nend",
            "s.lua: request() returned text that is not whole requests: incomplete request at 3:1",
        ),
    ] {
        check_load(text, expected);
    }
}

#[test]
fn thrown_tables_have_a_line_too() {
    let error = Bench::new().load("function init()\n  error({})\nend", 1).err().unwrap();
    assert_eq!((error.line, &error.message[..7]), (Some(2), "table: "), "{error}");
}

#[test]
fn libraries_that_are_absent_are_named_with_their_line() {
    let error = Bench::new().load("local x\nlocal ffi = require 'ffi'", 1).err().unwrap();
    assert_eq!(error.line, Some(2));
    assert!(error.message.starts_with("module 'ffi' not found"), "{error}");
    assert!(error.message.ends_with("use a module in Lua"), "{error}");
    // Of `debug` there is the traceback, which scripts give to xpcall.
    let text = "local function fail() error('boom') end
        function init()
          local _, told = xpcall(fail, debug.traceback)
          print((told:gsub('\\n.*', '')), (told:find('s.lua:3', 1, true)) ~= nil, debug.traceback(nil) ~= nil)
        end";
    let bench = Bench::new();
    bench.load(text, 1).unwrap();
    assert_eq!(bench.printed(), "s.lua:1: boom\ttrue\ttrue\n");
}

#[test]
fn endless_loops_are_ended() {
    let looping = "local n = 0\nwhile true do\n  n = n + 1\nend\n";
    for (phase, text) in [
        ("loading the script", looping.to_owned()),
        ("setup()", format!("function setup()\n{looping}end")),
        ("init()", format!("function init()\n{looping}end")),
        ("init()", format!("function init() coroutine.wrap(function()\n{looping}end)() end")),
        ("request()", format!("function request()\n{looping}end")),
    ] {
        let mut bench = Bench::new();
        bench.limit = Nanos::from_millis(50);
        let error = bench.load(&text, 1).err().unwrap();
        let expected = format!("{phase} did not end within 50ms; look for a loop without end");
        assert_eq!(error.message, expected, "{text}");
        assert!(error.line.is_some_and(|line| (1..=6).contains(&line)), "{error}");
    }
}

#[test]
fn done_is_bounded_too_and_its_errors_have_a_place() {
    let mut bench = Bench::new();
    bench.limit = Nanos::from_millis(50);
    let mut wrk = bench.load("function done()\n  while true do end\nend", 1).unwrap();
    let error = done(&mut wrk).unwrap_err();
    assert_eq!(error.to_string(), "s.lua:2: done() did not end within 50ms; look for a loop without end");
    let mut wrk = bench.load("function done(s)\n  print(s.nothing.more)\nend", 1).unwrap();
    let error = done(&mut wrk).unwrap_err();
    assert_eq!(error.to_string(), "s.lua:2: attempt to index field 'nothing' (a nil value)");
}

#[test]
fn a_script_that_throws_during_the_load_goes_on() {
    let bench = Bench::new();
    let text = "local n = 0
        function request()
          n = n + 1
          if n % 2 == 1 then return wrk.format() end
          error('number ' .. n)
        end
        function response(status) error(status) end
        function delay() return {} + 1 end";
    let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
    let mut out = Vec::new();
    for number in [2, 4, 6] {
        let error = thread.request(&mut out).unwrap_err();
        assert_eq!(error.to_string(), format!("s.lua:5: number {number}"));
        assert!(out.is_empty());
        assert!(next(thread).starts_with("GET / "));
    }
    let error = thread.response(503, &[], b"").unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (Some(7), "503"));
    let error = thread.delay().unwrap_err();
    assert_eq!(error.to_string(), "s.lua:8: attempt to perform arithmetic on a table value");
}

#[test]
fn hosts_that_cannot_be_reached() {
    let bench = Bench::new();
    let mut url = bench.url();
    // Too long for a name, so that no server is asked.
    url.host = "x".repeat(300);
    let error = bench.load_from("", 1, &url).err().unwrap();
    let expected = format!("unable to resolve {}:{} ", url.host, bench.port());
    assert!(error.message.starts_with(&expected), "{error}");
    let mut url = bench.url();
    // The port was free a moment ago and is not listened on.
    url.port = Some(std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
    let error = bench.load_from("", 1, &url).err().unwrap();
    let port = url.port.unwrap();
    assert_eq!(
        error.to_string(),
        format!("s.lua: unable to connect to 127.0.0.1:{port}; is the target running?")
    );
}
