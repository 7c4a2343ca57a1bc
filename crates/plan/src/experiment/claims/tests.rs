//! Claims as people write them, rightly and wrongly.

use crate::context::Context;
use crate::experiment::experiment;
use schema::metric::Metric;
use schema::plan::{ClaimComparison, ClaimMargin, ClaimPlan, ClaimTest};
use std::path::PathBuf;

const FRAME: &str = "[experiment]\nname = \"x\"\nmargin = 0.03\n[[target]]\nname = \"one\"\nreference = {}\n\
                     [[target]]\nname = \"two\"\nreference = {}\n[[target]]\nname = \"three\"\nreference = {}\n\
                     [scenario]\nrequest = { path = \"/\" }\n";

/// The plan of a claim about p99 with these lines, or what is said instead. The claim begins in line 16.
fn resolved(load: &str, metric: &str, rest: &str) -> Result<ClaimPlan, String> {
    let text = format!("{FRAME}{load}\n[[claim]]\ntext = \"t\"\nmetric = \"{metric}\"\n{rest}\n");
    let context = Context { project: PathBuf::from("."), usable_cpus: vec![0, 1], pin: None };
    let plan = experiment("x.toml", &text, &context).map_err(|error| error.to_string())?;
    Ok(plan.claims.into_iter().next().expect("there is one claim"))
}

const ONE_LOAD: &str = "[load]\nmodel = \"closed\"\nconnections = 4";

fn check(metric: &str, rest: &str, wanted: ClaimTest) {
    assert_eq!(resolved(ONE_LOAD, metric, rest).unwrap().test, wanted, "{rest}");
}

#[test]
fn every_kind_becomes_cells_and_numbers_in_the_unit_of_its_metric() {
    let (c1, c2, c3) = (|| "c1".to_owned(), || "c2".to_owned(), || "c3".to_owned());
    let (at_most, less) = (ClaimComparison::AtMost, ClaimComparison::LessThan);
    check(
        "p99",
        "better = \"one\"\nthan = \"two\"\nratio = \"< 0.9\"",
        ClaimTest::Ratio { numerator: c1(), denominator: c2(), comparison: less, bound: 0.9 },
    );
    for (metric, text, bound) in [
        ("p99", "<= 5ms", 5e6),
        ("p99", "<= -1.5ms", -1.5e6),
        ("error_rate", "<=0.1%", 0.001),
        ("error_rate", "<= 0.001", 0.001),
        ("memory", "<= 64MiB", 67_108_864.0),
        ("alloc_per_request", "<= 2KiB", 2048.0),
        ("throughput", "<= 2k", 2000.0),
        ("cpu_per_request", "<= 10us", 10_000.0),
    ] {
        check(
            metric,
            &format!("better = \"one\"\nthan = \"two\"\ndifference = \"{text}\""),
            ClaimTest::Difference { minuend: c1(), subtrahend: c2(), comparison: at_most, bound },
        );
    }
    check(
        "p99",
        "of = \"two\"\nis = \"< 50ms\"",
        ClaimTest::Threshold { cell: c2(), comparison: less, bound: 50e6 },
    );
    check(
        "p95",
        "of = \"two\"\nknee = \"> 1k\"",
        ClaimTest::Knee { target: "two".into(), comparison: ClaimComparison::MoreThan, bound: 1000.0 },
    );
    check(
        "p99",
        "order = [\"three\", \"one\", \"two\"]",
        ClaimTest::Ordering { cells: vec![c3(), c1(), c2()] },
    );
    for (metric, margin, wanted) in [
        ("p99", "", ClaimMargin::Ratio(0.03)),
        ("p99", "margin = 0.1", ClaimMargin::Ratio(0.1)),
        ("p99", "margin = \"2ms\"", ClaimMargin::Difference(2e6)),
        ("error_rate", "margin = \"0.1%\"", ClaimMargin::Difference(0.001)),
    ] {
        check(
            metric,
            &format!("equivalent = [\"one\", \"two\"]\n{margin}"),
            ClaimTest::Equivalent { a: c1(), b: c2(), margin: wanted },
        );
        check(
            metric,
            &format!("no_worse = \"one\"\nthan = \"two\"\n{margin}"),
            ClaimTest::NoWorse { cell: c1(), than: c2(), margin: wanted },
        );
    }
}

#[test]
fn leaks_are_of_no_metric_and_all_else_is() {
    let of = |rest: &str| {
        let text = format!("{FRAME}{ONE_LOAD}\n[[claim]]\ntext = \"t\"\n{rest}\n");
        let context = Context { project: PathBuf::from("."), usable_cpus: vec![0, 1], pin: None };
        experiment("x.toml", &text, &context)
            .map(|plan| plan.claims[0].clone())
            .map_err(|error| error.to_string())
    };
    let claim = of("no_leak = \"two\"").unwrap();
    assert_eq!((claim.test, claim.metric), (ClaimTest::NoLeak { target: "two".into() }, None));
    let error = of("of = \"two\"\nis = \"< 1s\"").unwrap_err();
    assert!(error.contains("needs `metric`") && error.contains("for example p99"), "{error}");
    let error = of("no_leak = \"twoo\"").unwrap_err();
    assert!(error.contains("did you mean `two`?"), "{error}");
    let claim = of("metric = \"throughput\"\nof = \"two\"\nknee = \">= 8\"").unwrap();
    assert_eq!(claim.metric, Some(Metric::Throughput.into()));
}

#[test]
fn levels_choose_the_cells() {
    let two_loads = "[load]\nmodel = \"closed\"\nconnections = [4, 8]";
    let claim = resolved(two_loads, "p99", "of = \"two\"\nis = \"< 1s\"\nat = { connections = 8 }").unwrap();
    assert_eq!(claim.test.cells(), ["c4"]);
    let rest = "no_worse = \"two\"\nthan = \"two\"\nat = { connections = 8 }\nthan_at = { connections = 4 }";
    assert_eq!(resolved(two_loads, "p99", rest).unwrap().test.cells(), ["c4", "c3"]);
    let error = resolved(two_loads, "p99", "order = [\"one\", \"two\"]").unwrap_err();
    assert!(error.contains("add at = { connections = … }"), "{error}");
}

#[test]
fn mistakes_are_told_with_line_key_cause_and_remedy() {
    let pair = "better = \"one\"\nthan = \"two\"\n";
    for (metric, rest, expected) in [
        (
            "p99",
            String::new(),
            "claim.0`)\n  remedy: give exactly one of ratio, difference, is, order, equivalent",
        ),
        (
            "p99",
            format!("{pair}ratio = \">= 1\"\nis = \"< 1s\""),
            "this one has ratio and is (key `claim.0.is`)",
        ),
        ("p99", "better = \"one\"\nratio = \">= 1\"".into(), "needs `than`"),
        (
            "p99",
            format!("{pair}ratio = \">= 1\"\nmargin = 0.1"),
            "`ratio` has no use for `margin` (key `claim.0.margin`)",
        ),
        ("p99", "of = \"one\"\nis = \"< 1s\"\nthan = \"two\"".into(), "`is` has no use for `than`"),
        ("p99", format!("{pair}ratio = \"1\""), "`1` is no comparison (key `claim.0.ratio`)"),
        ("p99", format!("{pair}ratio = \">= -1\""), "a positive number"),
        ("p99", format!("{pair}difference = \"5ms\""), "`5ms` is no comparison"),
        ("p99", format!("{pair}difference = \"<= 5\""), "p99 is a time"),
        ("p99", "of = \"one\"\nis = \"< 5MiB\"".into(), "p99 is a time"),
        ("memory", "of = \"one\"\nis = \"< 5ms\"".into(), "memory is a size"),
        ("throughput", "of = \"one\"\nis = \"> 5ms\"".into(), "throughput is a rate"),
        ("error_rate", "of = \"one\"\nis = \"< 5\"".into(), "neither a percentage nor a number from 0 to 1"),
        ("p99", "of = \"one\"\nis = \"< -5ms\"".into(), "p99 is a time"),
        (
            "p99",
            "of = \"ome\"\nis = \"< 5ms\"".into(),
            "no target `ome` (key `claim.0.of`)\n  remedy: did you mean `one`?",
        ),
        ("p99", "order = [\"one\", \"twoo\"]".into(), "did you mean `two`?"),
        ("p99", "order = [\"one\"]".into(), "an order of 1 targets cannot be tested"),
        ("p99", "order = [\"one\", \"two\", \"one\"]".into(), "`one` stands in it twice"),
        ("p99", "equivalent = [\"one\"]".into(), "two targets are needed (key `claim.0.equivalent`)"),
        ("p99", "equivalent = [\"one\", \"one\"]".into(), "a target is compared with itself"),
        ("p99", "equivalent = [\"one\", \"two\"]\nmargin = 2".into(), "a margin of 2 is out of range"),
        (
            "p99",
            "equivalent = [\"one\", \"two\"]\nmargin = \"0ms\"".into(),
            "a margin of 0 can never be shown",
        ),
        ("p99", "equivalent = [\"one\", \"two\"]\nmargin = \"5MiB\"".into(), "p99 is a time"),
        ("p99", "equivalent = [\"one\", \"two\"]\nmargin = true".into(), "a share such as 0.05"),
        ("error_rate", "no_worse = \"one\"\nthan = \"two\"".into(), "margin = \"0.1%\""),
        ("error_rate", "no_worse = \"one\"\nthan = \"two\"\nmargin = 0.1".into(), "key `claim.0.margin`"),
        (
            "p99",
            "of = \"one\"\nis = \"< 5ms\"\nat = { connections = 9 }".into(),
            "no cell has this scenario and load",
        ),
        ("p99", "of = \"one\"\nknee = \"> 4\"".into(), "no knee of p99 is looked for (key `claim.0.metric`)"),
        ("p95", "of = \"one\"\nknee = \"400\"".into(), "`400` is no bound of a load (key `claim.0.knee`)"),
        ("p95", "of = \"one\"\nknee = \"> 0\"".into(), "no bound of a load"),
        ("p95", "knee = \"> 4\"".into(), "needs `of`"),
        ("p95", "of = \"one\"\nknee = \"> 4\"\nat = { connections = 4 }".into(), "no use for `at`"),
        ("p95", "no_leak = \"one\"".into(), "`no_leak` has no use for `metric`"),
        ("p98", format!("{pair}ratio = \">= 1\""), "p9"),
        ("p99", format!("{pair}raito = \">= 1\""), "ratio"),
    ] {
        let error = resolved(ONE_LOAD, metric, &rest).expect_err(&rest);
        assert!(
            error.starts_with("x.toml:") && error.contains(expected),
            "{rest}\nshould say: {expected}\n{error}"
        );
    }
}

#[test]
fn published_numbers_become_bands_and_two_sided_bounds_spans() {
    use schema::plan::ClaimQuantity;
    use schema::published::{Direction, Span};
    const SOURCE: &str = "source = { article = \"000\", place = \"table 1\" }";
    const PAIR: &str = "better = \"one\"\nthan = \"two\"\n";
    let span = |low: f64, high: f64| Span { low: Some(low), high: Some(high) };
    let near = |got: Span, wanted: Span| {
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9 * b.abs().max(1.0),
            (a, b) => a == b,
        };
        close(got.low, wanted.low) && close(got.high, wanted.high)
    };
    for (metric, rest, value, band, direction) in [
        (
            "throughput",
            format!("{PAIR}published = 2.2"),
            span(2.2, 2.2),
            span(2.0, 2.42),
            Some(Direction::More),
        ),
        (
            "p99",
            format!("{PAIR}published = \"0.5 to 0.6\"\ntolerance = 0.2"),
            span(0.5, 0.6),
            span(0.5 / 1.2, 0.72),
            Some(Direction::Less),
        ),
        (
            "p99",
            format!("{PAIR}published = 1\ndirection = \"same\""),
            span(1.0, 1.0),
            span(1.0 / 1.1, 1.1),
            Some(Direction::Same),
        ),
        (
            "throughput",
            format!("{PAIR}published = \"> 40\""),
            Span { low: Some(40.0), high: None },
            Span { low: Some(40.0), high: None },
            Some(Direction::More),
        ),
        (
            "throughput",
            "of = \"one\"\npublished = \"11k\"".into(),
            span(11e3, 11e3),
            span(10e3, 12.1e3),
            None,
        ),
        (
            "downtime",
            "of = \"one\"\npublished = \"8ms to 12ms\"".into(),
            span(8e6, 12e6),
            span(8e6 / 1.1, 13.2e6),
            None,
        ),
        (
            "error_rate",
            "of = \"one\"\npublished = \"0%\"\ntolerance = \"0.1%\"".into(),
            span(0.0, 0.0),
            span(0.0, 0.001),
            None,
        ),
        (
            "gc_pause_p99",
            "of = \"one\"\npublished = \"< 1ms\"".into(),
            Span { low: None, high: Some(1e6) },
            Span { low: None, high: Some(1e6) },
            None,
        ),
        (
            "received_bytes",
            "of = \"one\"\npublished = \"182MiB/s\"".into(),
            span(182.0 * 1048576.0, 182.0 * 1048576.0),
            span(182.0 * 1048576.0 / 1.1, 182.0 * 1048576.0 * 1.1),
            None,
        ),
        (
            "cpu_per_request",
            format!("{PAIR}published = \"850us\"\ntolerance = 0.25"),
            span(850e3, 850e3),
            span(850e3 / 1.25, 850e3 * 1.25),
            Some(Direction::More),
        ),
        ("gc_count", "of = \"one\"\npublished = 23".into(), span(23.0, 23.0), span(23.0 / 1.1, 25.3), None),
    ] {
        let plan = resolved(ONE_LOAD, metric, &format!("{rest}\n{SOURCE}\nid = \"x-1\"")).expect(&rest);
        let ClaimTest::Within { span: got, .. } = &plan.test else { panic!("{rest}: {:?}", plan.test) };
        let published = plan.published.clone().expect(&rest);
        assert!(near(*got, band), "{rest}: {got:?}");
        assert!(near(published.value.expect(&rest), value), "{rest}: {published:?}");
        assert_eq!((published.direction, plan.id.as_deref()), (direction, Some("x-1")), "{rest}");
    }
    check(
        "p99",
        &format!("{PAIR}ratio = \"1.2 to 1.5\""),
        ClaimTest::Within {
            quantity: ClaimQuantity::Ratio { numerator: "c1".into(), denominator: "c2".into() },
            span: span(1.2, 1.5),
        },
    );
    check(
        "p95",
        "of = \"one\"\nknee = \"16k to 32k\"",
        ClaimTest::Within { quantity: ClaimQuantity::Knee { target: "one".into() }, span: span(16e3, 32e3) },
    );
    check(
        "mean",
        &format!("{PAIR}difference = \"1ms to 2ms\""),
        ClaimTest::Within {
            quantity: ClaimQuantity::Difference { minuend: "c1".into(), subtrahend: "c2".into() },
            span: span(1e6, 2e6),
        },
    );
    let printed =
        resolved(ONE_LOAD, "mean", &format!("{PAIR}published = \"1ms\"\n{SOURCE}")).expect("a difference");
    let ClaimTest::Within { quantity: ClaimQuantity::Difference { .. }, .. } = printed.test else {
        panic!("{:?}", printed.test)
    };
    for (metric, rest, expected) in [
        ("p99", format!("{PAIR}published = 1.2"), "has no source (key `claim.0.published`)"),
        (
            "p99",
            format!("{PAIR}ratio = \">= 1\"\nconditions = {{ connections = 5 }}"),
            "has no source (key `claim.0.conditions`)",
        ),
        (
            "p99",
            format!("{PAIR}published = 1.2\nratio = \">= 1\"\n{SOURCE}"),
            "this one has ratio and published",
        ),
        (
            "p99",
            format!("{PAIR}published = 1.2\ntolerance = 3\n{SOURCE}"),
            "a tolerance of 3 is out of range",
        ),
        ("p99", format!("{PAIR}published = 1.2\ntolerance = \"5ms\"\n{SOURCE}"), "a ratio has no unit"),
        (
            "p99",
            format!("of = \"one\"\npublished = \"5ms\"\ndirection = \"more\"\n{SOURCE}"),
            "no use for `direction`",
        ),
        (
            "error_rate",
            format!("of = \"one\"\npublished = 0\n{SOURCE}"),
            "write the tolerance as a difference",
        ),
        ("p99", format!("{PAIR}ratio = \"1.5 to 1.2\""), "ends before it begins"),
        ("p99", format!("{PAIR}ratio = \">= 1\"\nid = \"a b\""), "`a b` is no name"),
    ] {
        let error = resolved(ONE_LOAD, metric, &rest).expect_err(&rest);
        assert!(error.contains(expected), "{rest}\nshould say: {expected}\n{error}");
    }
}

/// The same of a claim about a counter.
fn counted(table: &str, rest: &str) -> Result<ClaimPlan, String> {
    let text = format!("{FRAME}{ONE_LOAD}\n[[claim]]\ntext = \"t\"\nmetric = {table}\n{rest}\n");
    let context = Context { project: PathBuf::from("."), usable_cpus: vec![0, 1], pin: None };
    let plan = experiment("x.toml", &text, &context).map_err(|error| error.to_string())?;
    Ok(plan.claims.into_iter().next().expect("there is one claim"))
}

#[test]
fn bounds_of_counters_are_in_the_unit_that_their_names_tell() {
    for (table, text, bound) in [
        ("{ counter = \"go.runtime/fallbacks\", per = \"go.runtime/guarded_calls\" }", "33%", 0.33),
        ("{ counter = \"go.runtime/fallbacks\", per = \"go.runtime/guarded_calls\" }", "250%", 2.5),
        ("{ counter = \"target.process/voluntary_switches\", per = \"request\" }", "0.25", 0.25),
        ("{ counter = \"target.process/voluntary_switches\", per = \"total\" }", "10k", 10_000.0),
        ("{ counter = \"target.process/involuntary_switches\", per = \"second\" }", "1.5k", 1_500.0),
        ("{ counter = \"host.net/received_bytes\", per = \"second\" }", "1MiB/s", 1_048_576.0),
    ] {
        let plan = counted(table, &format!("of = \"two\"\nis = \"<= {text}\"")).expect(table);
        let comparison = ClaimComparison::AtMost;
        assert_eq!(
            plan.test,
            ClaimTest::Threshold { cell: "c2".into(), comparison, bound },
            "{table} {text}"
        );
    }
    let published = "of = \"two\"\npublished = \"40%\"\ntolerance = \"5%\"\n\
                     source = { article = \"000\", place = \"table 1\" }";
    let plan = counted("{ counter = \"a.x/b\", per = \"a.x/c\" }", published).unwrap_err();
    assert!(plan.contains("no run has a source `a.x`"), "{plan}");
    let plan = counted("{ counter = \"go.x/b\", per = \"go.x/c\" }", published).unwrap();
    assert_eq!(plan.published.unwrap().value.unwrap().low, Some(0.4));
}

#[test]
fn mistakes_in_a_counter_are_told_with_their_key() {
    for (table, rest, expected) in [
        ("{ counter = \"goroutines\" }", "is = \"< 5%\"", "claim.0.metric.counter"),
        (
            "{ counter = \"go.runtime/gc_cycles\", per = \"secnd\" }",
            "is = \"< 5%\"",
            "did you mean `second`?",
        ),
        ("{ countr = \"go.runtime/gc_cycles\" }", "is = \"< 5%\"", "did you mean `counter`?"),
        ("{ counter = \"go.runtime/heap_bytes\" }", "is = \"< 5%\"", "is a size"),
        ("{ counter = \"go.runtime/goroutines\" }", "knee = \"< 5%\"", "no knee of go.runtime/goroutines"),
        ("5", "is = \"< 5%\"", "the name of a metric, or a table"),
    ] {
        let told = counted(table, &format!("of = \"two\"\n{rest}")).expect_err(table);
        assert!(told.contains(expected) && told.contains("x.toml"), "{table}: no `{expected}` in {told}");
    }
}
