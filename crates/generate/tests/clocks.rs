//! A drift planted between the host's clocks, and the gates that name it.

use engine::{Clocks, IntervalData, MachineClocks};
use generate::GenerateError;
use generate::measure::{Measured, Watch, measure_by};
use plan::LoadJob;
use schema::experiment::Reference;
use schema::load::Gate;
use schema::plan::{ExpectPlan, LoadPlan, PhasePlan, RequestPlan, ScenarioPlan};
use schema::trial::IntervalLine;
use std::sync::atomic::AtomicBool;
use testkit::reference::{Law, ReferenceServer};

/// The machine's clocks, with a raw counter that is slow and a wall clock that is set during the load.
struct Planted {
    fast_ppm: f64,
    set_ahead_ns: u64,
    first_raw_ns: Option<u64>,
}

impl Clocks for Planted {
    fn monotonic_ns(&mut self) -> u64 {
        MachineClocks.monotonic_ns()
    }
    fn raw_ns(&mut self) -> u64 {
        let now_ns = MachineClocks.raw_ns();
        let first_ns = *self.first_raw_ns.get_or_insert(now_ns);
        first_ns + ((now_ns - first_ns) as f64 / (1.0 + self.fast_ppm / 1e6)) as u64
    }
    fn real_ns(&mut self) -> u64 {
        // The looks before the load take microseconds, the load a second.
        let has_load_run = MachineClocks.raw_ns() - self.first_raw_ns.unwrap_or_default() > 100_000_000;
        MachineClocks.real_ns() + if has_load_run { self.set_ahead_ns } else { 0 }
    }
}

struct Quiet;

impl Watch for Quiet {
    type Error = GenerateError;
    fn interval(&mut self, _: &IntervalLine, _: &IntervalData) -> Result<(), GenerateError> {
        Ok(())
    }
}

/// A load of 50 requests a second for a second, measured by these clocks.
fn measured(fast_ppm: f64, set_ahead_ns: u64) -> Measured {
    let law = Law::try_from(&Reference::default()).expect("the default is a law");
    let server = ReferenceServer::start(law).expect("the reference server starts");
    let expect = ExpectPlan { status: vec![200], ..ExpectPlan::default() };
    let request = RequestPlan { method: "GET".into(), path: "/".into(), ..RequestPlan::default() };
    let job = LoadJob {
        further: Vec::new(),
        url: format!("http://{}", server.addr()),
        authority: server.addr().to_string(),
        proxy: None,
        to: server.addr(),
        scenario: ScenarioPlan::single("clocks", request, expect),
        login: None,
        bodies: Vec::new(),
        load: LoadPlan {
            model: schema::experiment::LoadModel::Open,
            connections: 2,
            connections_max: 2,
            rate_per_s: Some(50.0),
            arrivals: Some(schema::arrival::ArrivalPlan::Constant),
            workers: 1,
            processes: 1,
            connect_timeout_ns: 5_000_000_000,
            timeout_ns: 5_000_000_000,
            seed: 1,
            ..LoadPlan::default()
        },
        name: None,
        phases: PhasePlan {
            warmup_at_least_ns: 0,
            warmup_at_most_ns: 0,
            warmup_also: Default::default(),
            sample_ns: 1_000_000_000,
            samples: 1,
            drain_ns: 1_000_000_000,
        },
        requests_max: None,
        arrivals_max: None,
        cpus: None,
        spin: false,
        network: None,
        each: None,
    };
    let mut clocks = Planted { fast_ppm, set_ahead_ns, first_raw_ns: None };
    let stop = AtomicBool::new(false);
    measure_by(&mut clocks, &job.settled(), None, &mut Quiet, &stop).expect("the load runs")
}

/// The gates of the clocks, and whether each is a reservation.
fn gates(measured: &Measured) -> [(Gate, bool); 2] {
    let found = analyze::validity(&measured.report, &measured.facts);
    ["clock_rate", "clock_step"].map(|name| {
        let gate = found.gates.iter().find(|gate| gate.gate == name).expect("both are asked").clone();
        (gate, found.reservations.iter().any(|gate| gate.gate == name))
    })
}

#[test]
fn a_planted_drift_of_200_ppm_is_said_and_one_of_an_hour_of_chrony_voids() {
    // Whatever the true drift of this host is, it is in both measurements.
    let own_ppm = measured(0.0, 0).facts.clocks.expect("a second is long enough").rate_ppm;
    let at = |planted_ppm: f64| {
        let measured = measured(planted_ppm - own_ppm, 0);
        let clocks = measured.facts.clocks.expect("a second is long enough");
        // NTP may change its mind between the two loads.
        assert!((clocks.rate_ppm - planted_ppm).abs() < 20.0, "{clocks:?}");
        gates(&measured)
    };
    let [(rate, is_said), (step, _)] = at(200.0);
    assert!(rate.ok && is_said, "{rate:?}");
    assert!(step.ok, "{step:?}");
    let [(rate, _), _] = at(80_000.0);
    assert!(!rate.ok && rate.text.contains("NTP"), "{rate:?}");
}

#[test]
fn a_wall_clock_set_during_the_load_is_said_and_voids_above_a_second() {
    let [(rate, _), (step, is_said)] = gates(&measured(0.0, 40_000_000));
    assert!(rate.ok && step.ok && is_said, "{rate:?} {step:?}");
    let [_, (step, _)] = gates(&measured(0.0, 1_500_000_000));
    assert!(!step.ok && step.text.contains("set ahead by 1.5 s"), "{step:?}");
}
