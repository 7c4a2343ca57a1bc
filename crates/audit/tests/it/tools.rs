//! Outputs of load tools as their users paste them. The texts are in the form that each tool's own documentation shows.

use crate::audited;
use schema::audit::{AuditForm, AuditLoad, AuditSeverity};

/// Checks the columns of an output, and that nothing in it is impossible.
fn check(text: &str, columns: &[&str], load: AuditLoad) {
    let asked = audited(text);
    let table = &asked.0.tables[0];
    assert_eq!((table.form, table.load), (AuditForm::ToolOutput, load), "{text}");
    let mut found = asked.columns();
    found.sort();
    let mut wanted: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    wanted.push("label".to_owned());
    wanted.sort();
    assert_eq!(found, wanted, "{text}");
    assert_eq!(asked.impossible(), Vec::<String>::new());
}

const WRK: &str = "Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  22464657 requests in 30.00s, 17.76GB read
  Socket errors: connect 0, read 3, write 0, timeout 4
Requests/sec: 748868.53
Transfer/sec:    606.33MB
";

#[test]
fn wrk() {
    let columns = [
        "threads",
        "connections",
        "throughput:/s",
        "mean:us",
        "p50:us",
        "p75:us",
        "p90:us",
        "p99:ms",
        "max:ms",
        "stddev:ms",
        "errors",
        "requests",
        "duration:s",
    ];
    check(WRK, &columns, AuditLoad::Closed);
    // The example of wrk's README has 476 requests in flight on 400 connections: wrk adds times that it thinks were
    // omitted. So its outputs are never impossible by this law.
    assert_eq!(audited(WRK).rows("littles-law"), [(vec![1], AuditSeverity::Suspicious)]);
    assert!(audited(WRK).of("littles-law")[0].remedy.starts_with("wrk adds"));
    let disordered = WRK.replace("5.80ms", "  0.60ms");
    assert_eq!(audited(&disordered).rows("quantile-order"), [(vec![1], AuditSeverity::Impossible)]);
    let fewer = WRK.replace("22464657", "12464657");
    assert_eq!(audited(&fewer).rows("throughput-times-duration"), [(vec![1], AuditSeverity::Impossible)]);
}

#[test]
fn several_outputs_with_headings() {
    let text = format!("# gin\n$ wrk -t12 -c400 -d30s http://127.0.0.1:8080/\n{WRK}\n# echo\n{WRK}");
    let report = audited(&text).0;
    assert_eq!(report.tables[0].rows.len(), 2);
    assert!(report.tables[0].rows[1].name.starts_with("echo, 400"), "{:?}", report.tables[0].rows);
    // The two are the same to the last digit.
    assert_eq!(audited(&text).rows("copied-figures").len(), 1);
}

#[test]
fn wrk2_is_an_open_load() {
    let text = "Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   212.46ms   22.10ms  412.52ms   71.37%
    Req/Sec     1.04k     1.16k    2.50k    72.62%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%  206.67ms
 99.000%  312.44ms
 99.900%  312.46ms
100.000%  412.52ms
  60018 requests in 30.00s, 19.81MB read
Requests/sec:   2000.28
";
    let columns = [
        "threads",
        "connections",
        "throughput:/s",
        "mean:ms",
        "p50:ms",
        "p99:ms",
        "p99.9:ms",
        "max:ms",
        "stddev:ms",
        "requests",
        "duration:s",
    ];
    check(text, &columns, AuditLoad::Open);
}

#[test]
fn hey() {
    let text = "$ hey -z 10s -c 50 http://127.0.0.1:8080/

Summary:
  Total:\t10.0021 secs
  Slowest:\t0.0514 secs
  Fastest:\t0.0002 secs
  Average:\t0.0051 secs
  Requests/sec:\t9732.1234
  
  Total data:\t1168152 bytes
  Size/request:\t12 bytes

Response time histogram:
  0.000 [1]\t|
  0.005 [60000]\t|■■■■

Latency distribution:
  10% in 0.0021 secs
  50% in 0.0044 secs
  90% in 0.0088 secs
  99% in 0.0201 secs

Status code distribution:
  [200]\t97340 responses
  [503]\t2 responses

Error distribution:
  [2]\tGet http://127.0.0.1:8080/: dial tcp: connection refused
";
    let columns = [
        "connections",
        "throughput:/s",
        "mean:secs",
        "p10:secs",
        "p50:secs",
        "p90:secs",
        "p99:secs",
        "min:secs",
        "max:secs",
        "errors",
        "requests",
        "duration:secs",
    ];
    check(text, &columns, AuditLoad::Closed);
}

#[test]
fn ab() {
    let text = "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>
Server Software:        nginx
Document Path:          /
Concurrency Level:      100
Time taken for tests:   1.234 seconds
Complete requests:      10000
Failed requests:        0
Requests per second:    8103.73 [#/sec] (mean)
Time per request:       12.340 [ms] (mean)
Time per request:       0.123 [ms] (mean, across all concurrent requests)

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       1
Processing:     1   12   2.1     12      30
Total:          1   12   2.1     12      31

Percentage of the requests served within a certain time (ms)
  50%     12
  66%     13
  95%     16
  99%     20
 100%     31 (longest request)
";
    let columns = [
        "connections",
        "throughput:/s",
        "mean:ms",
        "p50:ms",
        "p66:ms",
        "p95:ms",
        "p99:ms",
        "min:ms",
        "max:ms",
        "stddev:ms",
        "errors",
        "requests",
        "duration:s",
    ];
    check(text, &columns, AuditLoad::Closed);
}

#[test]
fn vegeta() {
    let text = "Requests      [total, rate, throughput]         6000, 100.02, 99.98
Duration      [total, attack, wait]             1m0.012s, 59.99s, 11.2ms
Latencies     [min, mean, 50, 90, 95, 99, max]  1.2ms, 3.4ms, 3.1ms, 5.5ms, 6.1ms, 9.9ms, 50.2ms
Bytes In      [total, mean]                     6000, 1.00
Success       [ratio]                           100.00%
Status Codes  [code:count]                      200:6000
";
    let columns = [
        "offered:/s",
        "throughput:/s",
        "mean:ms",
        "p50:ms",
        "p90:ms",
        "p95:ms",
        "p99:ms",
        "min:ms",
        "max:ms",
        "success-share:%",
        "requests",
        "duration:s",
    ];
    check(text, &columns, AuditLoad::Open);
}

#[test]
fn k6() {
    let text = "     data_received..................: 22 MB 732 kB/s
     http_req_connecting............: avg=1.2µs min=0s med=0s max=1.1ms p(90)=0s p(95)=0s
     http_req_duration..............: avg=12.31ms min=1.2ms med=11.05ms max=123.4ms p(90)=20.12ms p(95)=30.9ms
       { expected_response:true }...: avg=12.31ms min=1.2ms med=11.05ms max=123.4ms p(90)=20.12ms p(95)=30.9ms
     http_req_failed................: 0.01%  ✓ 1        ✗ 12344
     http_reqs......................: 12345  411.5/s
     iterations.....................: 12345  411.5/s
     vus............................: 50     min=50     max=50
     vus_max........................: 50     min=50     max=50
";
    let columns = [
        "connections",
        "throughput:/s",
        "mean:ms",
        "p50:ms",
        "p90:ms",
        "p95:ms",
        "min:ms",
        "max:ms",
        "error-share:%",
        "requests",
    ];
    check(text, &columns, AuditLoad::Closed);
}

#[test]
fn others() {
    let bombardier = "Bombarding http://localhost:8080 for 10s using 125 connection(s)
Statistics        Avg      Stdev        Max
  Reqs/sec     98432.11    1234.50   120000.00
  Latency        1.26ms   345.00us    34.50ms
  Latency Distribution
     50%     1.10ms
     99%     4.02ms
  HTTP codes:
    1xx - 0, 2xx - 984321, 3xx - 0, 4xx - 0, 5xx - 0
    others - 0
  Throughput:    22.51MB/s
";
    let columns = [
        "connections",
        "throughput:/s",
        "mean:ms",
        "p50:ms",
        "p99:ms",
        "max:ms",
        "stddev:us",
        "errors",
        "requests",
        "duration:s",
    ];
    check(bombardier, &columns, AuditLoad::Closed);
    let siege = "Transactions:\t\t       12345 hits
Availability:\t\t      100.00 %
Elapsed time:\t\t       29.41 secs
Response time:\t\t        0.01 secs
Transaction rate:\t      419.76 trans/sec
Throughput: \t\t        0.35 MB/sec
Concurrency:\t\t        4.99
Failed transactions:\t           0
Longest transaction:\t        0.10
Shortest transaction:\t        0.00
";
    let columns = [
        "throughput:/s",
        "mean:secs",
        "min:s",
        "max:s",
        "success-share:%",
        "errors",
        "requests",
        "duration:s",
    ];
    check(siege, &columns, AuditLoad::Closed);
    let jmeter = "summary +   1200 in 00:00:30 =   40.0/s Avg:    12 Min:     1 Max:   300 Err:     0 (0.00%) Active: 10
summary =  12345 in 00:05:00 =   41.2/s Avg:    13 Min:     1 Max:   420 Err:    12 (0.10%)
";
    let columns = ["throughput:/s", "mean:ms", "min:ms", "max:ms", "errors", "requests", "duration:s"];
    check(jmeter, &columns, AuditLoad::Closed);
    assert_eq!(audited(jmeter).0.tables[0].rows.len(), 2);
    let h2load = "$ h2load -n100000 -c 100 -m 10 https://localhost/
finished in 1.23s, 81300.81 req/s, 9.32MB/s
requests: 100000 total, 100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 100000 2xx, 0 3xx, 0 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:      101us     20.51ms     12.21ms      2.05ms    70.11%
";
    let columns = [
        "connections",
        "pipeline",
        "throughput:/s",
        "mean:ms",
        "min:us",
        "max:ms",
        "stddev:ms",
        "errors",
        "requests",
        "duration:s",
    ];
    check(h2load, &columns, AuditLoad::Closed);
    let autocannon = "┌─────────┬──────┬──────┬───────┬──────┬─────────┬─────────┬───────┐
│ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │ Stdev   │ Max   │
├─────────┼──────┼──────┼───────┼──────┼─────────┼─────────┼───────┤
│ Latency │ 0 ms │ 1 ms │ 3 ms  │ 4 ms │ 1.02 ms │ 0.81 ms │ 42 ms │
└─────────┴──────┴──────┴───────┴──────┴─────────┴─────────┴───────┘
┌───────────┬────────┬────────┬─────────┬─────────┬──────────┬─────────┬────────┐
│ Stat      │ 1%     │ 2.5%   │ 50%     │ 97.5%   │ Avg      │ Stdev   │ Min    │
├───────────┼────────┼────────┼─────────┼─────────┼──────────┼─────────┼────────┤
│ Req/Sec   │ 50,143 │ 50,143 │ 60,319  │ 61,215  │ 59,302.5 │ 3,201.2 │ 50,127 │
├───────────┼────────┼────────┼─────────┼─────────┼──────────┼─────────┼────────┤
│ Bytes/Sec │ 9.8 MB │ 9.8 MB │ 11.8 MB │ 12 MB   │ 11.6 MB  │ 626 kB  │ 9.8 MB │
└───────────┴────────┴────────┴─────────┴─────────┴──────────┴─────────┴────────┘
";
    let report = audited(autocannon).0;
    assert_eq!((report.tables.len(), report.counts.rows, report.counts.impossible), (1, 1, 0), "{report:?}");
}
