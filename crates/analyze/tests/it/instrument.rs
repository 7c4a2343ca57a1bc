//! What a load asks beyond what a made-up calibration gives, said before anything runs.

use crate::synth::{closed, open, run, trial, trials};
use analyze::{TrialData, analyze, instrument_limit, stale};
use schema::analysis::BeliefLevel;
use schema::calibration::{
    CalibrationFile, CalibrationSummary, ClockLimits, DriverLimits, FixedWork, HistogramError, HostIdentity,
    InstrumentError, LagAtRate, Lateness, MaxRate, Spread,
};
use schema::metric::Metric;
use schema::plan::{DriverChoice, LoadPlan, PinPlan};
use schema::run::RunFile;
use units::Seed;

fn same(value: f64) -> Spread {
    Spread { median: value, min: value, max: value }
}

/// One worker: 10,000/s over 1 connection, 40,000/s over 100; p99 lag 20 µs at 1,000/s, 220 µs at 10,000/s; from
/// 20,000/s on it cannot keep the rate.
fn calibration() -> CalibrationFile {
    let max = |connections, limit_per_s| MaxRate {
        connections,
        rate_per_s: same(limit_per_s),
        cpu_per_request_ns: same(1e9 / limit_per_s),
        busy_share: same(0.99),
        server_limited: false,
        limit_per_s,
    };
    let lag = |rate_per_s, lag_ns, achieved| LagAtRate {
        rate_per_s,
        requests: 30_000,
        lag_p50_ns: same(1_000.0),
        lag_p99_ns: same(lag_ns),
        lag_max_ns: same(2.0 * lag_ns),
        achieved_share: same(achieved),
    };
    CalibrationFile {
        schema: Default::default(),
        host: HostIdentity { fingerprint: "00ff".into(), ..host() },
        measured_wall: "2026-11-21T09:00:00Z".into(),
        took_ns: 1,
        pin: PinPlan::default(),
        repeats: 3,
        seed: 1,
        clock: ClockLimits::default(),
        histogram: HistogramError::default(),
        fixed_work: FixedWork::default(),
        host_state: None,
        disturbed: None,
        drivers: vec![DriverLimits {
            driver: DriverChoice::Epoll,
            max_rate_by_connections: vec![max(1, 10_000.0), max(100, 40_000.0)],
            lag_by_rate: vec![lag(1_000.0, 2e4, 1.0), lag(10_000.0, 2.2e5, 1.0), lag(20_000.0, 9e6, 0.7)],
            overhead_per_request: Vec::new(),
        }],
    }
}

fn host() -> HostIdentity {
    HostIdentity { cpus: 2, kernel: "6.12".into(), prony: "0.1.0".into(), ..HostIdentity::default() }
}

fn limit(loads: &[&LoadPlan], cpus: usize) -> CalibrationSummary {
    instrument_limit(&calibration(), Vec::new(), DriverChoice::Epoll, cpus, loads)
        .expect("epoll is calibrated")
}

#[test]
fn limits_are_of_the_workers_that_have_a_cpu() {
    let found = limit(&[&closed(10)], 1);
    assert_eq!((found.connections, found.workers, found.max_rate_per_s), (10, 1, Some(25_000.0)));
    // The highest rate that was kept, because a closed load asks for none.
    assert_eq!((found.lag_rate_per_s, found.lag_p99_ns), (Some(10_000.0), Some(2.2e5)));
    assert_eq!(found.shortfalls, []);
    let two = LoadPlan { workers: 2, ..closed(20) };
    assert_eq!(limit(&[&two], 8).max_rate_per_s, Some(50_000.0));
    assert_eq!(limit(&[&two], 1).max_rate_per_s, Some(25_000.0), "two workers on one CPU are one");
    // Of several loads, the most connections and the highest rate.
    let found = limit(&[&closed(10), &open(100, 1_000.0), &open(4, 500.0)], 1);
    assert_eq!((found.connections, found.max_rate_per_s), (100, Some(40_000.0)));
    assert_eq!((found.lag_rate_per_s, found.lag_p99_ns), (Some(1_000.0), Some(2e4)));
    assert!(instrument_limit(&calibration(), vec![], DriverChoice::IoUring, 1, &[&closed(1)]).is_none());
    assert!(instrument_limit(&calibration(), vec![], DriverChoice::Epoll, 1, &[]).is_none());
}

#[test]
fn what_is_asked_beyond_the_limit_is_said_with_amount_and_remedy() {
    let said = |load: LoadPlan, cpus| {
        let found = limit(&[&load, &load], cpus).shortfalls;
        found.iter().map(|one| format!("{} → {}", one.text, one.remedy)).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(open(100, 1_000.0), 1), "");
    insta::assert_snapshot!(said(open(100, 100_000.0), 1), @"100,000 requests per second over 100 connections with 1 worker: the instrument gives at most 40,000 per second there, 2.5 times that is asked for → use 4 workers, each on a CPU of its own, or more machines, or ask for at most 32,000 per second");
    insta::assert_snapshot!(said(open(1, 9_000.0), 1), @"
    9,000 requests per second over 1 connection with 1 worker: the instrument gives at most 10,000 per second there, that leaves 1.11 times of reserve where 1.25 are needed → use 2 workers, each on a CPU of its own, or more machines, or ask for at most 8,000 per second
    9,000 requests per second over 1 connection with 1 worker: the instrument itself is 211 µs late there (p99), 100 µs is always allowed; trials are void unless the target's p99 response time is above 4.22 ms → use more workers, each on a CPU of its own, a quieter machine, or a lower rate
    ");
    // Four workers of 25 connections each: 31,000/s each, and 2,000/s each is punctual enough.
    assert_eq!(said(LoadPlan { workers: 4, ..open(100, 8_000.0) }, 4), "");
    assert_ne!(said(LoadPlan { workers: 4, ..open(100, 8_000.0) }, 1), "");
}

#[test]
fn a_limit_that_was_derived_says_so_and_strange_numbers_are_borne() {
    let mut file = calibration();
    file.drivers[0].max_rate_by_connections[1].server_limited = true;
    let of = |file: &CalibrationFile, load: &LoadPlan| {
        instrument_limit(file, vec![], DriverChoice::Epoll, 1, &[load]).unwrap()
    };
    assert!(of(&file, &closed(50)).max_rate_derived && !of(&file, &closed(1)).max_rate_derived);
    file.drivers[0].max_rate_by_connections.clear();
    file.drivers[0].lag_by_rate.clear();
    let found = of(&file, &open(1, f64::NAN));
    assert_eq!((found.max_rate_per_s, found.lag_p99_ns, found.shortfalls.len()), (None, None, 0));
    assert_eq!(of(&calibration(), &LoadPlan { workers: 0, connections: 0, ..open(0, 1.0) }).shortfalls, []);
}

#[test]
fn a_host_that_changed_is_told() {
    assert_eq!(stale(&host(), &host()), Vec::<&str>::new());
    let now = HostIdentity { cpus: 4, kernel: "6.13".into(), name: "other".into(), ..host() };
    assert_eq!(
        stale(&host(), &now),
        ["the kernel was 6.12 and is 6.13", "the number of usable CPUs was 2 and is 4"]
    );
    assert_eq!(
        stale(&host(), &HostIdentity { prony: "0.2.0".into(), ..host() }),
        ["prony was 0.1.0 and is 0.2.0"]
    );
}

#[test]
fn what_was_said_before_the_run_is_a_reservation_of_it() {
    let mut plan = run(&["a"], &[open(100, 100_000.0)], 5);
    plan.calibration = Some(limit(&[&open(100, 100_000.0)], 1));
    let data = trials(&plan, |_, block| 1e4 + f64::from(block));
    let notes = analyze(&plan, &data).belief.notes;
    let note =
        notes.iter().find(|note| note.text.contains("the instrument gives at most")).expect("it is said");
    assert_eq!(note.level, BeliefLevel::WithReservations);
    assert!(note.remedy.as_ref().unwrap().contains("4 workers"));
}

/// A run of one open load whose truth is known: 1 ms at every quantile, recorded too long by `late_ns` of lateness and
/// by what differs between trials.
fn late_run(late_ns: f64, calibrated: bool, seed: u64) -> (RunFile, Vec<TrialData>) {
    let mut rng = Seed(0x1A7E).derive("late", seed).rng();
    let load = open(64, 1_000.0);
    let mut run = run(&["a"], std::slice::from_ref(&load), 8);
    if calibrated {
        run.calibration = Some(limit(&[&load], 1));
    }
    let trials = run
        .plan
        .order
        .iter()
        .map(|planned| {
            let value = 1e6 * (0.002 * rng.normal()).exp() + late_ns;
            trial(
                &run,
                planned.id,
                &[(Metric::P50, value), (Metric::P99, value), (Metric::Throughput, 1e-3 * value)],
            )
        })
        .collect();
    (run, trials)
}

fn covers(run: &RunFile, trials: &[TrialData], metric: Metric) -> bool {
    let found = analyze(run, trials);
    let interval = found.cells[0].metrics.iter().find(|of| of.metric == metric).unwrap().interval.unwrap();
    interval.low.unwrap() <= 1e6 && interval.high.unwrap() >= 1e6
}

#[test]
fn what_trials_have_in_common_is_covered_by_the_calibrated_error_and_by_nothing_else() {
    // 20 µs late, which is what the calibration allows for at this rate; trials differ by 0.2 %.
    let count = |calibrated: bool| {
        let covered = |seed: &u64| {
            let (run, trials) = late_run(2e4, calibrated, *seed);
            covers(&run, &trials, Metric::P99)
        };
        (0..200).filter(covered).count()
    };
    let (plain, mended) = (count(false), count(true));
    assert!(plain <= 2, "{plain} of 200 without a calibration");
    assert!(mended >= 190, "{mended} of 200 with one");
}

#[test]
fn an_error_is_added_linearly_or_stated_as_negligible_and_never_without_a_calibration() {
    let (mut run, trials) = late_run(0.0, true, 1);
    let of = |run: &RunFile, metric: Metric| {
        let found = analyze(run, &trials);
        let summary = found.cells[0].metrics.iter().find(|of| of.metric == metric).unwrap().clone();
        (summary.interval.unwrap(), summary.instrument, found.instrument.unwrap().to_string())
    };
    let plain = RunFile { calibration: None, ..run.clone() };
    let (alone, none, said) = of(&plain, Metric::P99);
    assert_eq!(none, None);
    assert_eq!(said, "the instrument's own error is unknown and in no interval");

    let mut error = InstrumentError {
        clock_ns: 100.0,
        histogram_share: 0.001,
        wake_p99_ns: 6e4,
        late: Some(Lateness { mean_ns: 5_000.0, p99_ns: 2e4, max_ns: 4e5 }),
    };
    run.calibration.as_mut().unwrap().error = Some(error);
    let (wide, part, said) = of(&run, Metric::P99);
    let part = part.unwrap();
    let (low, high) = (alone.low.unwrap(), alone.high.unwrap());
    assert!(part.added && (part.low_ns - (0.001 * low + 100.0 + 2e4)).abs() < 1e-6, "{part:?}");
    assert!((part.high_ns - (0.001 * high + 100.0)).abs() < 1e-6, "lateness only lengthens: {part:?}");
    assert_eq!((wide.low, wide.high), (Some(low - part.low_ns), Some(high + part.high_ns)));
    assert!(
        said.contains("sent up to 20 µs late (p99)") && said.contains("is in 2 of 2 intervals"),
        "{said}"
    );
    // Throughput is no time.
    assert_eq!(of(&run, Metric::Throughput).1, None);

    // A hundredth of it is lost in the width.
    error = InstrumentError { clock_ns: 10.0, histogram_share: 1e-6, wake_p99_ns: 0.0, late: None };
    run.calibration.as_mut().unwrap().error = Some(error);
    assert_eq!(of(&run, Metric::P99).1, None, "an open load beyond the calibrated rates");
    error.late = Some(Lateness::default());
    run.calibration.as_mut().unwrap().error = Some(error);
    let (same, part, said) = of(&run, Metric::P99);
    assert!(part.is_some_and(|part| !part.added) && same == alone, "{part:?}");
    assert!(said.contains("negligible in 2 (at most 5 % of half the width)"), "{said}");

    // A busy host says nothing of its instrument.
    run.calibration.as_mut().unwrap().disturbed = Some("busy".into());
    assert_eq!(of(&run, Metric::P99).1, None);
}

#[test]
fn a_common_error_draws_ratios_towards_one_and_makes_no_difference() {
    let mut rng = Seed(7).rng();
    let plan = run(&["a", "b"], &[open(64, 1_000.0)], 8);
    let mut ratio = |late_ns: f64| {
        let trials: Vec<TrialData> = plan
            .plan
            .order
            .iter()
            .map(|planned| {
                let truth = if planned.cell == "c1" { 1.1e6 } else { 1e6 };
                trial(&plan, planned.id, &[(Metric::P99, truth * (1e-3 * rng.normal()).exp() + late_ns)])
            })
            .collect();
        let found = analyze(&plan, &trials);
        found.comparisons.iter().find(|of| of.metric == Metric::P99).unwrap().ratio.unwrap()
    };
    let (true_ratio, drawn) = (ratio(0.0), ratio(1e6));
    assert!((true_ratio - 1.1).abs() < 0.005 && (drawn - 1.05).abs() < 0.005, "{true_ratio} {drawn}");
}

/// A ladder of rates whose p95 is 1 ms up to 3,000 per second and then rises with a power of 1.5, sent `late_ns` late;
/// throughput is what is offered up to 3,000. `error` is what a calibration said.
fn late_ladder(late_ns: f64, error: Option<InstrumentError>, seed: u64) -> schema::capacity::Capacity {
    let mut rng = Seed(0x1ADDE).derive("ladder", seed).rng();
    let offered = [500.0, 750.0, 1_000.0, 1_500.0, 2_000.0, 3_000.0, 4_000.0, 6_000.0, 8_000.0, 12_000.0];
    let mut run = crate::capacity::rates(&offered, 5);
    if error.is_some() {
        run.calibration = Some(CalibrationSummary { error, ..limit(&[&open(100, 1_000.0)], 1) });
    }
    let made = |planned: &schema::plan::TrialPlan| {
        let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell).expect("planned");
        let rate = cell.load.rate_per_s.expect("open");
        let p95 = 1e6 * (rate / 3_000.0).max(1.0).powf(1.5) * (0.01 * rng.normal()).exp() + late_ns;
        let throughput = rate.min(3_000.0) * (0.01 * rng.normal()).exp();
        trial(&run, planned.id, &[(Metric::P95, p95), (Metric::Throughput, throughput)])
    };
    let trials: Vec<TrialData> = run.plan.order.iter().map(made).collect();
    crate::capacity::only(&run, &trials)
}

#[test]
fn a_late_clock_moves_the_knee_of_a_time_and_the_interval_knows_it() {
    let error = |late: f64| InstrumentError {
        clock_ns: 100.0,
        histogram_share: 1e-4,
        wake_p99_ns: 0.0,
        late: Some(Lateness { mean_ns: late, p99_ns: late, max_ns: late }),
    };
    let knee = |found: &schema::capacity::Capacity, metric| {
        found.knees.iter().find(|knee| knee.metric == metric).unwrap().clone()
    };
    let holds = |found: &schema::capacity::Capacity| {
        let interval = knee(found, Metric::P95).interval.expect("it bends");
        interval.low.is_none_or(|low| low <= 3_000.0) && interval.high.is_none_or(|high| high >= 3_000.0)
    };
    let late = 5e5;
    let count = |error: Option<InstrumentError>| {
        (0..40).filter(|seed| holds(&late_ladder(late, error, *seed))).count()
    };
    let (plain, mended) = (count(None), count(Some(error(late))));
    println!("a clock that is half a millisecond late: {plain} of 40 without its error, {mended} with it");
    assert!(plain <= 20 && mended >= 37, "{plain} and {mended} of 40");

    // Negligible errors change nothing; a throughput is a count over a time, which none of them moves.
    let (alone, small, large) = (
        late_ladder(0.0, None, 1),
        late_ladder(0.0, Some(error(1.0)), 1),
        late_ladder(0.0, Some(error(late)), 1),
    );
    assert_eq!(knee(&alone, Metric::P95).interval, knee(&small, Metric::P95).interval);
    assert_ne!(knee(&alone, Metric::P95).interval, knee(&large, Metric::P95).interval);
    assert_eq!(knee(&alone, Metric::Throughput), knee(&large, Metric::Throughput));
    assert_eq!(alone.highest, large.highest);
    assert!(alone.highest.is_some());
}
