//! What columns are taken for, end to end, and the tables of the five studies.

use crate::asked::{asked, options};
use crate::audited;
use audit::{Options, audit};
use schema::audit::AuditSeverity::{Note, Suspicious};
use schema::audit::{Basis, Meaning};

fn refused(text: &str, options: &Options) -> String {
    let error = audit("table.csv", text, options).expect_err(text).to_string();
    assert!(error.contains("\n  remedy: "), "{error}");
    error
}

#[test]
fn units_in_headers_and_cells_give_the_same_figures() {
    let tables = [
        "connections,qps,mean_ms\n100,10000,50.0\n",
        "connections,qps,mean (us)\n100,10000,50000\n",
        "并发数,QPS,平均延迟\n100,10k,50.0ms\n",
        "并发,吞吐量（万）,平均响应时间（秒）\n100,1.0,0.0500\n",
        "conns;rps;avg\n100;10.000,0;50,0ms\n",
        "| Concurrency | Requests/sec | Avg (ms) |\n|---|---|---|\n| 100 | 10,000 | 50.0 |\n",
        "c     req/s      mean\n100   10,000.1   50.0ms\n",
        "connections: 100\nQPS: 10000.0\nmean: 50.0 ms\n",
        "connections,throughput (req/min),mean_ms\n100,600000.0,50.0\n",
    ];
    for table in tables {
        let report = audited(table);
        assert_eq!(report.impossible().len(), 1, "{table}\n{:?}", report.0.tables[0].columns);
        assert_eq!(report.of("littles-law").len(), 1, "{table}");
    }
}

#[test]
fn guesses_are_told_and_can_be_overridden() {
    assert_eq!(
        audited("name,c,qps,latency,99%,err\ngin,10,1000,10,15ms,1%\n").columns(),
        ["label", "connections", "throughput:/s", "mean:ms?", "p99:ms", "error-share:%"]
    );
    let said = asked(
        "load,x,y\n10,1000,10.0\n",
        &options(&["load=connections", "x=throughput:k/s", "3=p99:us"], &[]),
    );
    assert_eq!(said.columns(), ["connections", "throughput:k/s", "p99:us"]);
    assert!(said.0.tables[0].columns.iter().all(|column| column.basis == Basis::Given));
    let headless =
        asked("10,1000,10.0\n20,2000,10.0\n", &options(&["1=connections", "2=throughput", "3=mean:ms"], &[]));
    assert_eq!(headless.0.counts.rows, 2);
    let given = asked("qps,mean_ms\n10000,50.0\n", &options(&[], &["connections=100"]));
    assert_eq!(given.of("littles-law").len(), 1);
    assert_eq!(given.0.tables[0].columns[2].number, 0);
    // What the table states is not overridden.
    let stated = asked("connections,qps,mean_ms\n1000,10000,50.0\n", &options(&[], &["connections=100"]));
    assert!(stated.impossible().is_empty());
}

#[test]
fn a_column_that_comes_twice_is_told() {
    let report = audited("name,qps,p99_ms,p99 (ms)\na,100,5,9\n").0;
    assert!(
        report.tables[0].notes.iter().any(|note| note.contains("`p99 (ms)` is not used")),
        "{:?}",
        report.tables[0].notes
    );
    assert_eq!(report.tables[0].columns[3].meaning, Meaning::Ignored);
    let threads = audited("threads,qps,mean_ms\n4,10000,50.0\n");
    assert!(threads.0.tables[0].notes[0].contains("--column 'threads=connections'"));
    assert!(threads.impossible().is_empty(), "threads of wrk are no connections");
}

#[test]
fn units_that_stand_nowhere_are_told_by_littles_law() {
    // 100/10,000 s = 10 ms: 10000 must be microseconds.
    let micro = audited("connections,qps,mean,p99\n100,10000,9900,25000\n200,10100,19700,60000\n");
    assert_eq!(micro.columns(), ["connections", "throughput:/s", "mean:us?", "p99:us?"]);
    assert!(micro.0.tables[0].notes[0].contains("taken for us"), "{:?}", micro.0.tables[0].notes);
    let seconds = audited("connections,qps,mean\n100,50,1.98\n");
    assert_eq!(seconds.columns()[2], "mean:s?");
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let none = Options::default();
    assert!(refused("a,b\n1,2\n", &none).contains("table.csv:1: none of its columns is known: `a`, `b`"));
    assert!(refused("1,2\n3,4\n", &none).contains("--column '3=p99:ms'"));
    assert!(refused("qps,p99\n1,2\n3,4,5\n", &none).starts_with("table.csv:3: this row has 3 cells"));
    let missing = refused("qps,p99\n1,2\n", &options(&["tps=throughput"], &[]));
    assert!(missing.contains("no such column") && missing.contains("`qps`, `p99`"), "{missing}");
}

#[test]
fn rules_without_columns_are_named() {
    let report = audited("connections,qps\n10,100\n").0;
    let named: Vec<_> = report.tables[0].not_checked.iter().map(|rule| rule.rule.as_str()).collect();
    for rule in ["littles-law", "mean-bounds", "cpu-law", "throughput-times-duration", "saturation"] {
        assert!(named.contains(&rule), "{rule}: {named:?}");
    }
}

#[test]
fn the_ladder_of_study_a() {
    let text = "study,case,connections,throughput_per_s,p95_ms,error_percent\nA,ladder,100,98,42,0\nA,ladder,2000,1850,68,0.02\n\
                A,ladder,16000,8200,215,1.35\nA,ladder,32000,9100,890,12.7\n";
    let found = audited(text);
    assert!(found.impossible().is_empty());
    assert_eq!(found.rows("saturation"), [(vec![3, 4], Note)]);
    assert_eq!(found.rows("errors-ignored"), [(vec![3], Suspicious), (vec![4], Suspicious)]);
    let think: Vec<u32> = found.of("think-time").iter().flat_map(|finding| finding.rows.clone()).collect();
    assert_eq!(think, [1, 3, 4]);
}

#[test]
fn the_stages_of_study_b() {
    let text = "study,case,connections,throughput_per_s,mean_ms,cpu_percent\nB,initial,1000,1237,98,60\nB,all cores,1000,8600,12,85\n\
                B,pool and reuse,1000,51200,1.8,95\n";
    let found = audited(text);
    assert_eq!(
        found.rows("littles-law"),
        [(vec![1], Suspicious), (vec![2], Suspicious), (vec![3], Suspicious)]
    );
    assert_eq!(found.rows("cpu-law"), [(vec![1, 3], Note)]);
    let stated = asked(text, &options(&[], &["think=0s"]));
    assert_eq!(stated.0.counts.impossible_rows, 3);
}

#[test]
fn the_cut_of_study_d() {
    let text = "study,case,connections,throughput_per_s,mean_ms,p50_ms,p90_ms,p95_ms,p99_ms,max_ms,cpu_percent\n\
                D,entry returns,20,6505,2.72,1,1,2,68,1774,100\nD,request parsed,20,5956,2.72,1,1,1,69,1832,100\n\
                D,project config,20,2278,8.16,1,2,86,89,1101,100\nD,complete,20,516,37.62,3,96,97,98,1878,77\n";
    let found = audited(text);
    assert!(found.impossible().is_empty(), "{:?}", found.impossible());
    assert_eq!(found.rows("copied-figures"), [(vec![1, 2], Suspicious)]);
    let quota = found.rows("timer-signature");
    assert!(quota.contains(&(vec![3], Suspicious)) && quota.contains(&(vec![4], Suspicious)), "{quota:?}");
    let law = found.rows("littles-law");
    assert!(law.contains(&(vec![1], Suspicious)), "{law:?}");
    // 516/s × 37.62 ms = 19.4 of 20: reported, but no reason to doubt the row.
    assert!(law.iter().all(|(rows, severity)| rows != &[4] || *severity == Note), "{law:?}");
}

#[test]
fn the_frameworks_of_study_e() {
    let text = "study,case,connections,throughput_per_s,mean_ms,errors\nE,gin,1000,98432,9.8,0\nE,iris,1000,87651,11.3,127\n";
    let found = audited(text);
    // 98,432/s × 9.85 ms = 970 at most: 3 % of the connections' time is elsewhere. 87,651/s × 11.3 ms = 990 fits.
    assert_eq!(found.rows("littles-law"), [(vec![1], Note)]);
    assert_eq!((found.0.counts.suspicious, found.0.counts.impossible), (0, 0));
}
