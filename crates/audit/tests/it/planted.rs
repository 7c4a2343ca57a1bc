//! Every rule finds the fault planted for it, at the row and with the severity, and is silent without it.

use crate::asked::{asked, options};
use crate::audited;
use schema::audit::AuditSeverity::{self, Impossible, Note, Suspicious};

/// A table without a fault passes the rule; with it, this row is found with this severity.
fn check(rule: &str, sound: &str, faulty: &str, rows: &[u32], severity: AuditSeverity) {
    assert_eq!(audited(sound).rows(rule), [], "sound:\n{sound}");
    assert_eq!(
        audited(faulty).rows(rule),
        [(rows.to_vec(), severity)],
        "faulty:\n{faulty}\n{:#?}",
        audited(faulty).of(rule)
    );
}

#[test]
fn more_in_flight_than_connections() {
    let table = |mean: &str| {
        format!("connections,throughput_per_s,mean_ms,duration_s\n100,10000,10,60\n100,10000,{mean},60\n")
    };
    check("littles-law", &table("10"), &table("12.5"), &[2], Impossible);
    // Within the rounding of 9.9 ms (9.85) and the edge nothing is said.
    check("littles-law", &table("9.9"), &table("50"), &[2], Impossible);
    let finding = audited(&table("50"));
    let finding = finding.of("littles-law")[0];
    assert!(
        finding.bound.contains("but N is 100") && finding.bound.contains("times as many"),
        "{}",
        finding.bound
    );
    assert_eq!(finding.numbers.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["N", "X", "R"]);
    assert!(finding.remedy.contains("prony load URL -c 100 -d 60s"), "{}", finding.remedy);
}

#[test]
fn rounding_decides_between_impossible_and_suspicious() {
    // 2 ms stands for 1.5 … 2.5 ms: 60,000/s × 1.5 ms = 90 in flight, so 100 connections are possible.
    assert_eq!(audited("connections,qps,mean_ms\n100,60000,2\n").rows("littles-law"), []);
    // 2.0 ms stands for 1.95 … 2.05 ms: at least 117.
    assert_eq!(
        audited("connections,qps,mean_ms\n100,60000,2.0\n").rows("littles-law"),
        [(vec![1], Impossible)]
    );
    // Trailing zeros may be rounding: 50000 is 47,500 or more, 110 × 0.95 = 104.5 … as printed 110.
    assert_eq!(
        audited("connections,qps,mean_ms\n103,50000,2.20\n").rows("littles-law"),
        [(vec![1], Suspicious)]
    );
}

#[test]
fn a_mean_may_be_bounded_by_percentiles_alone() {
    // Half of the requests take 40 ms or more: the mean is at least 20 ms, 10,000/s × 20 ms = 200.
    let table = |p50: &str| format!("connections,qps,p50_ms,p99_ms\n100,10000,{p50},45\n");
    check("littles-law", &table("5"), &table("40"), &[1], Impossible);
}

#[test]
fn connections_without_work() {
    let table = |x: &str| format!("connections,qps,mean_ms\n1000,{x},98.0\n");
    check("littles-law", &table("10200"), &table("1237"), &[1], Suspicious);
    let found = audited(&table("1237"));
    assert!(found.of("littles-law")[0].bound.contains("think time of"), "{:?}", found.of("littles-law"));
    // With a think time that is stated the same row cannot be.
    let stated = asked(&table("1237"), &options(&[], &["think=0s"]));
    assert_eq!(stated.rows("littles-law"), [(vec![1], Impossible)]);
    // And with the right one it passes: 1000/1237 − 0.098 = 0.71 s.
    assert_eq!(asked(&table("1237"), &options(&[], &["think=0.71s"])).rows("littles-law"), []);
}

#[test]
fn a_second_of_a_series_may_end_more_than_it_began() {
    // 100 connections, 0.4 s each: a second may end 100 of the second before and 210 of its own.
    let series = |step: u32| {
        let row = |at: u32, qps: u32| format!("{},100,{qps},400.0\n", at * step);
        format!("second,connections,qps,mean_ms\n{}{}{}", row(1, 250), row(2, 310), row(3, 250))
    };
    assert_eq!(audited(&series(1)).rows("littles-law"), []);
    assert_eq!(audited(&series(60)).rows("littles-law"), [(vec![2], Impossible)]);
}

#[test]
fn pipelines_and_open_loads_are_no_fault() {
    let plain = "connections,qps,mean_ms\n64,100000,10.0\n";
    assert_eq!(audited(plain).rows("littles-law"), [(vec![1], Impossible)]);
    let pipelined = "connections,pipeline,qps,mean_ms\n64,16,100000,10.0\n";
    assert_eq!(audited(pipelined).rows("littles-law"), []);
    let open = "connections,target rps,qps,mean_ms\n64,100000,100000,10.0\n";
    assert_eq!(audited(open).rows("littles-law"), []);
    let report = audited(open).0;
    assert!(report.tables[0].not_checked.iter().any(|rule| rule.rule == "littles-law"));
}

#[test]
fn percentiles_out_of_order() {
    let table = |p99: &str| format!("name,p50_ms,p95_ms,p99_ms,max_ms\ngin,1.0,4.0,{p99},20\n");
    check("quantile-order", &table("4.0"), &table("3.2"), &[1], Impossible);
    // 3.9 against 4.0 is no rounding, 3.95 printed as 4.0 would be.
    assert_eq!(audited("p95_ms,p99_ms\n4,3.9\n").rows("quantile-order"), []);
    check("quantile-order", "min,p50\n1,1\n", "min,p50\n3,1\n", &[1], Impossible);
    check("quantile-order", "p99,max\n5,5\n", "p99,max\n50,5\n", &[1], Impossible);
}

#[test]
fn means_outside_their_percentiles() {
    let table = |mean: &str| format!("mean_ms,p50_ms,p90_ms,p99_ms,max_ms\n{mean},1.0,2.0,5.0,20.0\n");
    // Bounds: low 0.5·0 + 0.4·1 + 0.09·2 + 0.01·5 = 0.63; high 0.5·1 + 0.4·2 + 0.09·5 + 0.01·20 = 1.95.
    check("mean-bounds", &table("1.9"), &table("2.3"), &[1], Impossible);
    check("mean-bounds", &table("0.66"), &table("0.40"), &[1], Impossible);
    let report = audited(&table("2.3"));
    assert!(
        report.of("mean-bounds")[0].bound.contains("the mean must be in 0.605 … 2 ms"),
        "{}",
        report.of("mean-bounds")[0].bound
    );
    // Above p99 without a max there is no bound, but a question.
    check(
        "mean-bounds",
        "mean_ms,p50_ms,p99_ms\n1.2,1.0,5.0\n",
        "mean_ms,p50_ms,p99_ms\n8.0,1.0,5.0\n",
        &[1],
        Suspicious,
    );
    check("mean-bounds", "mean_ms,max_ms\n5,9\n", "mean_ms,max_ms\n15.0,9.0\n", &[1], Impossible);
    check("mean-bounds", "mean_ms,min_ms\n5,2\n", "mean_ms,min_ms\n5.0,8.0\n", &[1], Impossible);
}

#[test]
fn deviations_that_cannot_be() {
    let table = |sd: &str| format!("mean_ms,latency stdev (ms),p50_ms,max_ms\n10.0,{sd},9.0,40.0\n");
    // σ ≤ √(30·10) = 17.3, and |mean − median| = 1 ≤ σ. The header leaves room, so nothing is impossible.
    check("standard-deviation", &table("12.0"), &table("30.0"), &[1], Suspicious);
    check("standard-deviation", &table("1.2"), &table("0.50"), &[1], Suspicious);
    // No numbers from 0 to 40 deviate by 120, whatever they are of.
    check("standard-deviation", &table("12.0"), &table("120.0"), &[1], Impossible);
    let bare = |sd: &str| format!("mean ms,stdev ms,max ms\n10.0,{sd},40.0\n");
    check("standard-deviation", &bare("9.0"), &bare("120.0"), &[1], Impossible);
}

#[test]
fn throughput_times_duration() {
    let table = |requests: &str| format!("qps,duration,requests\n1000,30s,{requests}\n");
    check("throughput-times-duration", &table("\"30,012\""), &table("\"20,000\""), &[1], Impossible);
    // Fewer answers than requests may be failures that are not counted here …
    check("throughput-times-duration", &table("30400"), &table("45012"), &[1], Suspicious);
    // … and cannot where they are.
    let counted = |failed: &str| format!("qps,duration,requests,errors\n1000,30s,45012,{failed}\n");
    check("throughput-times-duration", &counted("15000"), &counted("0"), &[1], Impossible);
    // The digits alone give room: 60 s are 59.5 to 60.5, which is 0.8 %.
    let minute = |requests: &str| format!("qps,duration,requests\n1234.5,60s,{requests}\n");
    check("throughput-times-duration", &minute("74500"), &minute("72959"), &[1], Impossible);
    check("throughput-times-duration", &minute("74500"), &minute("75181"), &[1], Suspicious);
    let exact = |requests: &str| format!("qps,duration,requests\n1234.5,60.00s,{requests}\n");
    check("throughput-times-duration", &exact("74069"), &exact("73950"), &[1], Impossible);
}

#[test]
fn more_failures_than_requests() {
    let table = |header: &str, failed: &str| format!("{header},errors,qps\n10000,{failed},500\n");
    check(
        "error-arithmetic",
        &table("total requests", "120"),
        &table("total requests", "12001"),
        &[1],
        Impossible,
    );
    // Right answers alone may be called requests.
    check("error-arithmetic", &table("requests", "120"), &table("requests", "12001"), &[1], Suspicious);
}

#[test]
fn error_arithmetic_and_errors_that_are_ignored() {
    let table = |share: &str| format!("requests,errors,error rate,p50_ms\n10000,127,{share},3\n");
    check("error-arithmetic", &table("1.27%"), &table("0.13%"), &[1], Impossible);
    check("error-arithmetic", &table("1.26%"), &table("2.54%"), &[1], Impossible);
    let failing = |share: &str| format!("connections,qps,p95_ms,error_percent\n32000,9100,890,{share}\n");
    check("errors-ignored", &failing("0.02"), &failing("12.7"), &[1], Suspicious);
    let found = audited(&failing("12.7"));
    assert!(
        found.of("errors-ignored")[0].what.contains("p95 is printed although"),
        "{:?}",
        found.of("errors-ignored")
    );
    check("figures", "errors %,qps\n100,5\n", "errors %,qps\n120,5\n", &[1], Impossible);
}

#[test]
fn figures_that_cannot_be() {
    check("figures", "qps,p99_ms\n5,3\n", "qps,p99_ms\n5,-3\n", &[1], Impossible);
    check("figures", "qps,p99_ms\n5,3\n", "qps,p99_ms\n5,NaN\n", &[1], Suspicious);
    check("figures", "qps,p99_ms\n5,3\n6,4\n", "qps,p99_ms\n5,3\n6,slow\n", &[2], Note);
}

#[test]
fn the_rate_that_was_offered() {
    let table = |x: &str| format!("target rps,rps,p99_ms\n1000,{x},5\n");
    check("offered-rate", &table("998"), &table("1312"), &[1], Impossible);
    check("offered-rate", &table("1000"), &table("612"), &[1], Suspicious);
}

#[test]
fn a_latency_longer_than_the_measurement() {
    let table = |max: &str| format!("duration,p99_ms,max\n30s,50,{max}\n");
    check("latency-in-duration", &table("29s"), &table("80.5s"), &[1], Impossible);
    check("latency-in-duration", &table("30.2s"), &table("40.5s"), &[1], Suspicious);
}

#[test]
fn cpu_above_the_cores_and_against_throughput() {
    let cores = |cpu: &str| format!("cores,qps,cpu %\n4,1000,{cpu}\n");
    check("cpu-cores", &cores("399"), &cores("450"), &[1], Impossible);
    let ladder = |cpu: &str| format!("connections,qps,cpu %\n10,1000,20\n20,2000,40\n40,4000,{cpu}\n");
    check("cpu-law", &ladder("81"), &ladder("25"), &[2, 3], Suspicious);
    let idle = "connections,qps,cpu %\n10,1000,60\n20,2000,62\n40,8000,70\n";
    assert!(audited(idle).of("cpu-law")[0].what.contains("without load"));
    let dear = "connections,qps,cpu %\n10,1000,10\n20,2000,55\n";
    assert!(audited(dear).of("cpu-law")[0].what.contains("grows"));
}

#[test]
fn timers_that_show() {
    let table = |p90: &str, p95: &str, p99: &str| {
        format!("qps,p50_ms,p90_ms,p95_ms,p99_ms\n516,3,{p90},{p95},{p99}\n")
    };
    check("timer-signature", &table("12", "31", "62"), &table("96", "97", "98"), &[1], Suspicious);
    let of = |text: &str| {
        audited(text).of("timer-signature").iter().map(|finding| finding.law.clone()).collect::<Vec<_>>()
    };
    assert!(of(&table("96", "97", "98"))[0].contains("CPU quota"));
    assert!(of(&table("3", "40.2", "41"))[0].contains("delayed acknowledgements"));
    assert!(of(&table("4", "201", "208"))[0].contains("lost packets"));
    assert!(of(&table("4", "1005", "1010"))[0].contains("SYN"));
    assert!(of("p50_ms,p99_ms,max_ms\n2,20,3010\n")[0].contains("SYN"));
    // One quantile alone is a note, and a smooth rise to the same place is nothing.
    check("timer-signature", &table("30", "62", "98"), &table("3", "5", "98"), &[1], Note);
}

#[test]
fn saturation_and_the_knee() {
    let flat = "connections,qps,mean_ms\n10,1000,10.0\n50,5000,10.0\n200,10100,19.8\n400,10000,40.0\n800,10050,79.6\n";
    let found = audited(flat);
    assert_eq!(found.rows("saturation"), [(vec![3, 4, 5], Note)]);
    let bound = &found.of("saturation")[0].bound;
    assert!(bound.contains("capacity is about 10,100/s") && bound.contains("N* = 101 "), "{bound}");
    let linear = "connections,qps,mean_ms\n10,1000,10.0\n20,2000,10.0\n40,4000,10.0\n80,7900,10.1\n";
    assert_eq!(audited(linear).rows("saturation"), []);
    // Flat, and latency flat too: N = X·R cannot hold in all rows.
    let still = "connections,qps,p50_ms\n100,10000,9.0\n200,10010,9.1\n400,10000,9.2\n";
    assert_eq!(audited(still).rows("saturation"), [(vec![1, 2, 3], Suspicious)]);
    let faster = "connections,qps,p50_ms\n10,500,9.0\n20,2000,9.0\n40,4000,9.0\n";
    assert_eq!(audited(faster).rows("saturation"), [(vec![1, 2], Suspicious)]);
}

#[test]
fn figures_of_the_load_tool() {
    let table = |go: &str| format!("server,connections,qps\ngin,100,50120\necho,100,50410\nfiber,100,{go}\n");
    check("generator-bound", &table("91000"), &table("50300"), &[1, 2, 3], Suspicious);
    let runs = "case,connections,qps\nrun 1,100,50120\nrun 2,100,50410\nrun 3,100,50300\n";
    assert_eq!(audited(runs).rows("generator-bound"), []);
    let busy = |cpu: &str| format!("connections,qps,client CPU %\n100,5000,{cpu}\n");
    check("generator-bound", &busy("45"), &busy("99"), &[1], Suspicious);
    let spare = |cpu: &str| format!("connections,qps,cpu %\n10,1000,{cpu}\n100,5000,{cpu}\n400,5010,{cpu}\n");
    check("generator-bound", &spare("95"), &spare("35"), &[2, 3], Suspicious);
}

#[test]
fn copied_figures() {
    let table = |b: &str| format!("name,connections,qps,mean_ms,p99_ms\na,100,12345,8.10,31.2\nb,100,{b}\n");
    check("copied-figures", &table("12388,8.07,31.9"), &table("12345,8.10,31.2"), &[1, 2], Suspicious);
    check("copied-figures", &table("10388,9.63,30.1"), &table("9311,8.10,30.1"), &[1, 2], Suspicious);
}

#[test]
fn warm_up_in_a_series() {
    let series = |first: &str| format!("second,qps\n1,{first}\n2,9990\n3,10020\n4,10000\n5,9980\n6,10010\n");
    check("warm-up", &series("9900"), &series("4000"), &[1], Suspicious);
    let runs = |first: &str| format!("run,qps\n1,{first}\n2,9990\n3,10020\n4,10000\n5,9980\n");
    check("warm-up", &runs("9970"), &runs("7000"), &[1], Suspicious);
}

#[test]
fn too_few_samples() {
    let table = |requests: &str| format!("requests,p50_ms,p99_ms\n{requests},3,9\n");
    check("too-few-samples", &table("30000"), &table("200"), &[1], Suspicious);
    check("too-few-samples", &table("30001"), &table("5000"), &[1], Note);
    // By throughput and duration: 100/s for 10 s are 1,000; p99.9 needs 300,000.
    assert_eq!(
        audited("qps,duration,p99.9_ms\n100,10s,9\n").rows("too-few-samples"),
        [(vec![1], Suspicious)]
    );
    let report = audited("qps,duration,p99.9_ms\n100,10s,9\n");
    assert!(report.of("too-few-samples")[0].bound.contains("300,000 requests are needed; below 2,995"));
}

#[test]
fn a_think_time_that_nobody_states() {
    let table = |x: &str| format!("connections,qps,p95_ms\n100,{x},42\n");
    check("think-time", &table("2300"), &table("98"), &[1], Suspicious);
    // Once it is stated, the mean that it leaves is judged: 100/98 − 1 = 20 ms.
    assert_eq!(asked(&table("98"), &options(&[], &["think=1s"])).rows("think-time"), []);
    // The lightest row tells the think time; the heavy one hides its slowest.
    let ladder = "connections,qps,p95_ms\n100,98,42\n2000,1950,48\n32000,9100,890\n";
    let found = audited(ladder);
    assert!(
        found.of("think-time").iter().any(|f| f.rows == [3] && f.what.starts_with("even with a think time")),
        "{found:?}"
    );
}

#[test]
fn a_guess_is_never_the_ground_of_an_impossible_row() {
    // `latency` may be a percentile.
    let table = "connections,qps,latency (ms)\n100,10000,50.0\n";
    assert_eq!(audited(table).rows("littles-law"), [(vec![1], Suspicious)]);
    let said = asked(table, &options(&["latency (ms)=mean:ms"], &[]));
    assert_eq!(said.rows("littles-law"), [(vec![1], Impossible)]);
    // A unit that stands nowhere may be wrong, unless the other rows speak for it.
    assert_eq!(
        audited("connections,qps,mean\n100,10000,50.0\n").rows("littles-law"),
        [(vec![1], Suspicious)]
    );
    let spoken = "connections,qps,mean\n100,10000,10.0\n100,5000,20.0\n100,10000,50.0\n";
    assert_eq!(audited(spoken).rows("littles-law"), [(vec![3], Impossible)]);
}
