//! The `wrk` table, and values on their way between states.

use crate::bench::{Bench, done, next};

#[test]
fn what_a_script_sees() {
    let mut bench = Bench::new();
    bench.args = vec!["one".into(), "two".into()];
    bench.headers = vec![("A".into(), "b".into())];
    let text = "assert(require 'wrk' == wrk)
        function init(args)
          print(args[0], args[1], args[2], #args)
          print(wrk.scheme, wrk.host, wrk.port, type(wrk.port), wrk.method, wrk.path, wrk.body, wrk.headers.A)
          print(type(wrk.thread), wrk.thread.nothing, wrk.headers.Host)
          io.write(tostring(nil), ' ', 1, '\\n')
          io.stdout:write('out\\n')
        end";
    bench.load(text, 1).unwrap();
    let host = bench.host();
    let expected = format!(
        "http://{host}/\tone\ttwo\t2\nhttp\t127.0.0.1\t{}\tstring\tGET\t/\tnil\tb\nuserdata\tnil\t{host}\nnil 1\nout\n",
        bench.port()
    );
    assert_eq!(bench.printed(), expected);
}

#[test]
fn hosts() {
    let bench = Bench::new();
    let mut url = bench.url();
    url.port = None;
    url.host = "::1".into();
    // Nothing may listen on port 80: the addresses are the script's own business here.
    let text = "function wrk.resolve() wrk.addrs = wrk.lookup('127.0.0.1', '1') end";
    let thread = &mut bench.load_from(text, 1, &url).unwrap().take_threads()[0];
    assert_eq!(next(thread), "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n");
}

#[test]
fn format_takes_from_the_table_what_it_is_not_given() {
    let bench = Bench::new();
    let text = r#"
        wrk.headers["b"], wrk.headers["A"], wrk.headers["Accept"] = 2, true, "x"
        local texts = {}
        function init()
          local own = { ["X-One"] = 1 }
          texts[1] = wrk.format("PUT", "/p", own, "body")
          assert(own.Host == wrk.headers.Host and own["Content-Length"] == 4)
          texts[2] = wrk.format(nil, nil, own)
          assert(own["Content-Length"] == nil)
          texts[3] = wrk.format("GET", "/q", { Host = "h" })
          wrk.body = 12
          texts[4] = wrk.format()
        end
        local n = 0
        function request() n = n % 4 + 1 return texts[n] end"#;
    let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
    let host = bench.host();
    // The first text went to the first question.
    assert_eq!(next(thread), format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-One: 1\r\n\r\n"));
    assert_eq!(next(thread), "GET /q HTTP/1.1\r\nHost: h\r\n\r\n");
    let all = format!("Host: {host}\r\nA: true\r\nAccept: x\r\nContent-Length: 2\r\nb: 2\r\n\r\n12");
    assert_eq!(next(thread), format!("GET / HTTP/1.1\r\n{all}"));
    let put = format!("PUT /p HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nX-One: 1\r\n\r\nbody");
    assert_eq!(next(thread), put);
}

#[test]
fn values_travel_between_states() {
    let bench = Bench::new();
    let text = r#"
        local threads = {}
        function setup(thread)
          threads[#threads + 1] = thread
          thread:set("given", { 1, "two", deep = { yes = true, bytes = "a\0b" } })
          thread:set("gone", nil)
          assert(thread:get("given").deep.yes and thread:get("nothing") == nil)
        end
        function init()
          given.deep.count = #given.deep.bytes
          wrk.thread:set("mine", 7)
          assert(mine == 7 and wrk.thread:get("mine") == 7)
          local endless = {}
          endless.within = endless
          local fine, cause = pcall(wrk.thread.set, wrk.thread, "endless", endless)
          assert(not fine and tostring(cause):find("nested more than 100 deep", 1, true))
        end
        function done()
          for i, thread in ipairs(threads) do
            local given = thread:get("given")
            print(i, given[1], given[2], given.deep.yes, given.deep.count, thread:get("mine"))
          end
        end"#;
    let mut wrk = bench.load(text, 2).unwrap();
    drop(wrk.take_threads());
    done(&mut wrk).unwrap();
    assert_eq!(bench.printed(), "1\t1\ttwo\ttrue\t3\t7\n2\t1\ttwo\ttrue\t3\t7\n");
}

#[test]
fn what_done_gets() {
    let bench = Bench::new();
    let text = r#"function done(summary, latency, requests)
          local e = summary.errors
          print(summary.duration, summary.requests, summary.bytes, e.connect, e.read, e.write, e.status, e.timeout)
          print(#latency, latency.min, latency.max, latency:percentile(100), latency(1000))
          print(("%.1f %.1f"):format(latency.mean / 1e3, latency.stdev / 1e3), latency.nothing)
          print(#requests, requests.min, requests.max, requests(2))
        end"#;
    let mut wrk = bench.load(text, 1).unwrap();
    done(&mut wrk).unwrap();
    let expected = "1001912\t49\t2793\t1\t2\t3\t4\t5\n\
        1000\t1000\t1000001\t1000001\t1000001\t1\n500.5 288.8\tnil\n2\t40\t50\t50\t2\n";
    assert_eq!(bench.printed(), expected);
}

#[test]
fn a_stop_before_the_load_means_nothing() {
    let bench = Bench::new();
    let text = "function setup(t) t:stop() end function init() wrk.thread:stop() end";
    let threads = bench.load(text, 1).unwrap().take_threads();
    assert!(!threads[0].is_stopped());
}

#[test]
fn functions_may_be_exchanged_while_the_load_runs() {
    let bench = Bench::new();
    let text = "function request() return wrk.format(nil, '/a') end
        function response() request = function() return wrk.format(nil, '/b') end end";
    let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
    assert!(next(thread).starts_with("GET /a "));
    thread.response(200, &[], b"").unwrap();
    assert!(next(thread).starts_with("GET /b "));
}

#[test]
fn delays_are_whole_milliseconds() {
    let bench = Bench::new();
    let text = "local all, n = { 2.9, '7', -3, 0 / 0, 1e300 }, 0
        function delay() n = n + 1 return all[n] end";
    let thread = &mut bench.load(text, 1).unwrap().take_threads()[0];
    let found: Vec<u64> = (0..6).map(|_| thread.delay().unwrap().unwrap().0).collect();
    assert_eq!(found, [2_000_000, 7_000_000, 0, 0, u64::MAX, 0]);
}

#[test]
fn a_worker_runs_in_its_own_thread() {
    let bench = Bench::new();
    let text = "count = 0
        function request() count = count + 1 return wrk.request() end
        local threads = {}
        function setup(t) threads[#threads + 1] = t end
        function done() for _, t in ipairs(threads) do print(t:get('count')) end end";
    let mut wrk = bench.load(text, 2).unwrap();
    let running: Vec<_> = wrk
        .take_threads()
        .into_iter()
        .map(|mut script| std::thread::spawn(move || (0..1000).for_each(|_| drop(next(&mut script)))))
        .collect();
    running.into_iter().for_each(|thread| thread.join().unwrap());
    done(&mut wrk).unwrap();
    assert_eq!(bench.printed(), "1001\n1000\n");
}
