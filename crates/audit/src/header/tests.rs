//! Headers as people write them, and what they are taken for.

use super::*;

fn check(table: &[(&str, &str)]) {
    for (header, expected) in table {
        let found = guess(header).map_or("nothing".to_owned(), |guess| {
            let unit = guess.unit.map_or(String::new(), |unit| format!(":{unit}"));
            format!("{}{unit}{}", guess.kind.name(), if guess.sure { "" } else { "?" })
        });
        assert_eq!(found, *expected, "for {header:?}");
    }
}

#[test]
fn english_headers() {
    check(&[
        ("connections", "connections"),
        ("Concurrent users", "connections"),
        ("VUs", "connections"),
        ("threads", "threads"),
        ("concurrent threads", "connections"),
        ("throughput_per_s", "throughput"),
        ("Requests/sec", "throughput"),
        ("req/s", "throughput"),
        ("RPS (k)", "throughput:k"),
        ("Requests per second", "throughput"),
        ("requests/min", "throughput:/min"),
        ("Throughput (MB/s)", "ignore"),
        ("Received KB/sec", "ignore"),
        ("Transfer/sec", "ignore"),
        ("max QPS", "throughput?"),
        ("target RPS", "offered"),
        ("offered load (req/s)", "offered:req/s"),
        ("mean_ms", "mean:ms"),
        ("Avg Latency", "mean"),
        ("avgLatency (µs)", "mean:µs"),
        ("Latency", "mean?"),
        ("Latency (ms)", "mean:ms?"),
        ("response time [s]", "mean:s?"),
        ("Max", "max"),
        ("Slowest (secs)", "max:secs"),
        ("min", "min"),
        ("min_ms", "min:ms"),
        ("Stdev", "stddev?"),
        ("CPU %", "cpu:%"),
        ("cpu_percent", "cpu:%"),
        ("CPU cores", "cores"),
        ("generator CPU", "generator-cpu"),
        ("# Samples", "requests"),
        ("Total requests", "requests"),
        ("errors", "errors"),
        ("Error %", "error-share:%"),
        ("error rate", "error-share"),
        ("failures/s", "ignore"),
        ("Success rate (%)", "success-share:%"),
        ("duration", "duration"),
        ("Duration (s)", "duration:s"),
        ("Time taken for tests", "duration"),
        ("think time", "think"),
        ("time", "time?"),
        ("run", "repeat"),
        ("pipeline depth", "pipeline"),
        ("framework", "nothing"),
        ("", "nothing"),
    ]);
}

#[test]
fn percentiles_in_many_spellings() {
    check(&[
        ("p50", "p50"),
        ("P99 (ms)", "p99:ms"),
        ("p95_ms", "p95:ms"),
        ("p99.9", "p99.9"),
        ("p999", "p99.9"),
        ("p9999", "p99.99"),
        ("p(95)", "p95"),
        ("TP99", "p99"),
        ("99%", "p99"),
        ("99.9% latency", "p99.9"),
        ("90% Line", "p90"),
        ("95th pct", "p95"),
        ("99th percentile (us)", "p99:us"),
        ("latency_p99_ms", "p99:ms"),
        ("99分位", "p99"),
        ("95%响应时间", "p95"),
        ("90%百分位", "p90"),
        ("99线", "p99"),
        ("分位数99", "p99"),
        ("Median", "p50"),
        ("中位数", "p50"),
        ("100%", "max"),
        ("p100", "max"),
        ("CPU p99", "ignore"),
    ]);
}

#[test]
fn chinese_headers() {
    check(&[
        ("并发", "connections"),
        ("并发数", "connections"),
        ("并发用户数", "connections"),
        ("连接数", "connections"),
        ("线程数", "threads"),
        ("并发线程数", "connections"),
        ("吞吐量", "throughput"),
        ("吞吐量(req/s)", "throughput:req/s"),
        ("QPS（万）", "throughput:万"),
        ("每秒请求数", "throughput"),
        ("平均", "mean"),
        ("平均响应时间(ms)", "mean:ms"),
        ("平均延迟（毫秒）", "mean:毫秒"),
        ("平均耗时", "mean"),
        ("响应时间", "mean?"),
        ("最大值", "max"),
        ("最小响应时间", "min"),
        ("标准差", "stddev?"),
        ("错误率", "error-share"),
        ("错误数", "errors"),
        ("异常%", "error-share:%"),
        ("失败", "errors"),
        ("成功率", "success-share"),
        ("CPU使用率", "cpu"),
        ("CPU核数", "cores"),
        ("总请求数", "requests"),
        ("样本数", "requests"),
        ("压测时间", "duration"),
        ("总耗时", "duration"),
        ("思考时间", "think"),
        ("目标QPS", "offered"),
        ("P99延迟(ms)", "p99:ms"),
        ("框架", "nothing"),
        ("内存(MB)", "ignore"),
    ]);
}
