//! Every gate with its faults (METHOD §0.4): one good trial to which all gates apply, and a table of what is planted in
//! it. Exactly the named gate must trip; a gate without a line in the table fails the test.

use crate::synth::{open, report};
use analyze::{MessageLateness, Residence, ServerFacts, TrialFacts, gate_names, validity};
use schema::agents::{AgentReport, FleetReport};
use schema::calibration::ClockCheck;
use schema::load::{ArrivalCheck, ArrivalVerdict, ErrorClass, LoadReport, MessageSummary, Requests};
use schema::server_side::{ChecksPlan, ClientSide, QuantileBucket};
use std::collections::BTreeSet;

type Plant = fn(&mut LoadReport, &mut TrialFacts);

/// 10,000/s at 10 ms over 1,000 connections, with everything that any gate looks at.
fn good() -> (LoadReport, TrialFacts) {
    let mut report = report(open(1_000, 10_000.0));
    report.latency_ns.service.p95 = Some(18_000_000);
    report.messages = Some(MessageSummary {
        scheduled: 900,
        completed: 800,
        failed: 90,
        censored: 10,
        ..MessageSummary::default()
    });
    report.fleet = Some(FleetReport { agents: ["a", "b"].map(agent).to_vec(), ..FleetReport::default() });
    let facts = TrialFacts {
        pacer_lag_p99_ns: Some(20_000),
        service_p50_ns: Some(9_000_000),
        response_p99_ns: Some(30_000_000),
        response_mean_ns: Some(10e6),
        response_max_ns: Some(30_000_000),
        messages: Some(MessageLateness {
            pacer_lag_p99_ns: 30_000,
            service_p50_ns: Some(1_000_000),
            response_p99_ns: Some(6_000_000),
        }),
        answered_all: 100_000,
        host_steal_share: Some(0.0),
        canary_drift: Some(0.001),
        clocks: Some(ClockCheck { span_ns: 12_000_000_000, rate_ppm: 17.0, ..ClockCheck::default() }),
        competing_share: Some(0.01),
        arrivals: Some(arrivals()),
        residence: Some(Residence { integral_ns: 1.2e12, sum_ns: 1.2e12 }),
        server: Some(server()),
        target_alive: Some(true),
        disturbed: false,
    };
    (report, facts)
}

/// One of two agents that did its half.
fn agent(name: &str) -> AgentReport {
    AgentReport {
        name: name.to_owned(),
        workers: 1,
        scheduled: 50_000,
        completed: 50_000,
        delivered: Some(1.0),
        pacer_lag_p99_ns: Some(20_000),
        steal_share: Some(0.0),
        ..AgentReport::default()
    }
}

fn second(report: &mut LoadReport) -> &mut AgentReport {
    &mut report.fleet.as_mut().expect("the good trial has it").agents[1]
}

fn arrivals() -> ArrivalCheck {
    ArrivalCheck {
        requests: 100_000,
        windows: 10,
        gaps: 99_990,
        deviation_p99_ns: 20_000,
        deviation_allowed_ns: 1_500_000,
        rate_ratio: Some(1.0),
        rate_limit: Some(0.01),
        fit: None,
        verdict: ArrivalVerdict::Passes,
    }
}

fn server() -> ServerFacts {
    ServerFacts {
        requests: Some(100_000),
        p95: Some(QuantileBucket { above_ns: 10_000_000, up_to_ns: Some(20_000_000) }),
        client: ClientSide { answers: 100_000, unanswered: 0, in_flight: 200, before_reading: 30, own: 2 },
        limits: ChecksPlan::default(),
    }
}

fn served(facts: &mut TrialFacts) -> &mut ServerFacts {
    facts.server.as_mut().expect("the good trial has it")
}

/// What trips which gate.
const FAULTS: [(&str, &str, Plant); 53] = [
    ("target_alive", "the target died", |_, facts| facts.target_alive = Some(false)),
    ("answers", "no right answer, no failure", |report, facts| {
        report.requests = Requests { scheduled: 0, ..Requests::default() };
        facts.response_mean_ns = None;
    }),
    ("nothing_lost", "one request more than outcomes", |report, _| report.requests.scheduled += 1),
    ("nothing_lost", "one outcome more than requests", |report, _| report.requests.censored += 1),
    ("nothing_lost", "a failure without a class", |report, _| {
        report.requests.completed -= 1;
        report.requests.failed += 1;
    }),
    ("nothing_lost", "one message more than outcomes", |report, _| of_messages(report).scheduled += 1),
    ("nothing_lost", "one outcome of a message too many", |report, _| of_messages(report).censored += 1),
    ("residence", "one request in 5,000 left the book late", |_, facts| {
        facts.residence = Some(Residence { integral_ns: 1.2e12 * 1.0002, sum_ns: 1.2e12 });
    }),
    ("residence", "requests that no number ever held", |_, facts| {
        facts.residence = Some(Residence { integral_ns: 0.0, sum_ns: 1.2e12 });
    }),
    ("residence", "no number at all", |_, facts| {
        facts.residence = Some(Residence { integral_ns: f64::NAN, sum_ns: 1.2e12 });
    }),
    ("connections", "one is missing", |report, _| report.connections.established -= 1),
    ("competing_cpu", "others had half of the CPUs", |_, facts| facts.competing_share = Some(0.5)),
    ("competing_cpu", "no number", |_, facts| facts.competing_share = Some(f64::NAN)),
    ("generator_cpu", "no idle time left", |report, _| report.generator.busy_share = 0.95),
    ("generator_cpu", "no number", |report, _| report.generator.busy_share = f64::NAN),
    ("pacer_lag", "later than all three limits", |_, facts| facts.pacer_lag_p99_ns = Some(1_500_001)),
    // Their streams are long and would allow it.
    ("pacer_lag", "messages later than their own limits", |_, facts| paced(facts).pacer_lag_p99_ns = 300_001),
    ("pacer_lag", "messages without answers later than their streams allow", |_, facts| {
        *paced(facts) =
            MessageLateness { pacer_lag_p99_ns: 1_500_001, service_p50_ns: None, response_p99_ns: None };
    }),
    ("arrivals", "another rate", |_, facts| arrived(facts).verdict = ArrivalVerdict::Rate),
    ("arrivals", "another law", |_, facts| arrived(facts).verdict = ArrivalVerdict::Law),
    ("arrivals", "dependent gaps", |_, facts| arrived(facts).verdict = ArrivalVerdict::Order),
    ("arrivals", "late", |_, facts| arrived(facts).verdict = ArrivalVerdict::Late),
    ("arrivals", "another schedule", |_, facts| arrived(facts).verdict = ArrivalVerdict::Schedule),
    // As many streams as are in the system, 100, and three standard deviations of that may have been cut by the end.
    ("offered_achieved", "more than 1 % never ended", |report, _| censor(report, 1_132)),
    ("offered_achieved", "more than 1 % found no port", |report, _| {
        report.requests.completed -= 1_001;
        report.requests.failed += 1_001;
        report.errors.insert(ErrorClass::AddressNotAvailable, 1_001);
    }),
    ("littles_law", "time is missing", |_, facts| facts.response_mean_ns = Some(10e6 * 0.94)),
    ("littles_law", "requests are missing", |_, facts| facts.answered_all = 94_000),
    ("littles_law", "too many in the system", |report, _| report.window.in_system_mean = 106.0),
    ("littles_law", "no number", |_, facts| facts.response_mean_ns = Some(f64::NAN)),
    // 0.5 % and 232 at the borders are allowed.
    ("server_counts", "the target counted fewer", |_, facts| served(facts).requests = Some(99_267)),
    ("server_counts", "the target counted more", |_, facts| served(facts).requests = Some(100_733)),
    ("server_counts", "the target counted none", |_, facts| served(facts).requests = Some(0)),
    ("server_counts", "more than those without an answer", |_, facts| {
        served(facts).client.unanswered = 5_000;
        served(facts).requests = Some(105_733);
    }),
    ("server_p95", "longer than its client saw", |_, facts| {
        served(facts).p95 = Some(QuantileBucket { above_ns: 26_000_001, up_to_ns: Some(30_000_000) });
    }),
    ("server_p95", "longer, in the last bucket", |_, facts| {
        served(facts).p95 = Some(QuantileBucket { above_ns: 26_000_001, up_to_ns: None });
    }),
    ("server_p95", "shorter than its client saw", |_, facts| {
        served(facts).p95 = Some(QuantileBucket { above_ns: 0, up_to_ns: Some(9_999_999) });
    }),
    ("steal", "above 5 %", |_, facts| facts.host_steal_share = Some(0.0501)),
    ("steal", "no number", |_, facts| facts.host_steal_share = Some(f64::NAN)),
    ("canary", "slower", |_, facts| facts.canary_drift = Some(0.101)),
    ("canary", "faster", |_, facts| facts.canary_drift = Some(-0.101)),
    ("clock_rate", "faster than NTP may correct", |_, facts| clocks(facts).rate_ppm = 500.1),
    ("clock_rate", "slower than NTP may correct", |_, facts| clocks(facts).rate_ppm = -500.1),
    ("clock_rate", "no number", |_, facts| clocks(facts).rate_ppm = f64::NAN),
    ("clock_step", "set ahead", |_, facts| clocks(facts).step_ns = 1_000_000_001),
    ("clock_step", "set back", |_, facts| clocks(facts).step_ns = -1_000_000_001),
    ("fleet_share", "an agent delivered less", |report, _| second(report).delivered = Some(0.9899)),
    ("fleet_share", "an agent delivered more", |report, _| second(report).delivered = Some(1.0101)),
    ("fleet_share", "no number", |report, _| second(report).delivered = Some(f64::NAN)),
    ("fleet_clock", "a clock went away", |report, _| second(report).clock.apart_ns = 10_000_001),
    ("fleet_lag", "one agent is late, which the whole hides", |report, _| {
        second(report).pacer_lag_p99_ns = Some(1_500_001);
    }),
    ("fleet_steal", "one host lost CPU time", |report, _| second(report).steal_share = Some(0.0501)),
    ("fleet_steal", "no number", |report, _| second(report).steal_share = Some(f64::NAN)),
    ("fleet_lag", "another agent is late", |report, _| {
        report.fleet.as_mut().expect("it is there").agents[0].pacer_lag_p99_ns = Some(1_500_001);
    }),
];

fn of_messages(report: &mut LoadReport) -> &mut MessageSummary {
    report.messages.as_mut().expect("the good trial has it")
}

fn paced(facts: &mut TrialFacts) -> &mut MessageLateness {
    facts.messages.as_mut().expect("the good trial has it")
}

fn clocks(facts: &mut TrialFacts) -> &mut ClockCheck {
    facts.clocks.as_mut().expect("the good trial has it")
}

fn arrived(facts: &mut TrialFacts) -> &mut ArrivalCheck {
    facts.arrivals.as_mut().expect("the good trial has it")
}

fn censor(report: &mut LoadReport, count: u64) {
    report.requests.completed -= count;
    report.requests.censored += count;
}

#[test]
fn every_gate_is_asked_of_the_good_trial_and_passes() {
    let (report, facts) = good();
    let found = validity(&report, &facts);
    assert!(found.ok && found.reasons.is_empty(), "{:#?}", found.reasons);
    let asked: Vec<&str> = found.gates.iter().map(|gate| gate.gate.as_str()).collect();
    assert_eq!(asked, gate_names().collect::<Vec<_>>());
}

#[test]
fn each_fault_trips_its_gate_and_no_other() {
    for (name, fault, plant) in FAULTS {
        let (mut report, mut facts) = good();
        plant(&mut report, &mut facts);
        let found = validity(&report, &facts);
        let tripped: Vec<&str> = found.reasons.iter().map(|gate| gate.gate.as_str()).collect();
        assert_eq!(tripped, [name], "{fault}: {:#?}", found.gates);
        assert!(!found.ok);
        let gate = &found.reasons[0];
        assert!(gate.text.contains(": ") || gate.text.contains("; "), "{fault}: no remedy: {}", gate.text);
        for gate in &found.gates {
            assert!(gate.value.is_finite() && gate.limit.is_finite(), "{fault}: {gate:?}");
        }
    }
}

#[test]
fn no_gate_is_without_a_fault_and_no_fault_without_a_gate() {
    let planted: BTreeSet<&str> = FAULTS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(planted, gate_names().collect());
    let count = gate_names().count();
    assert_eq!(count, gate_names().collect::<BTreeSet<_>>().len(), "two gates have one name");
}

#[test]
fn what_the_borders_and_failures_leave_open_is_allowed() {
    let cases: [(&str, Plant); 6] = [
        ("as many fewer as allowed", |_, facts| served(facts).requests = Some(99_268)),
        ("as many more as allowed", |_, facts| served(facts).requests = Some(100_732)),
        ("unanswered requests that it counted", |_, facts| {
            served(facts).client.unanswered = 5_000;
            served(facts).requests = Some(105_000);
        }),
        ("unanswered requests that never reached it", |_, facts| served(facts).client.unanswered = 5_000),
        ("8 ms beside its bucket", |_, facts| {
            served(facts).p95 = Some(QuantileBucket { above_ns: 26_000_000, up_to_ns: None });
        }),
        ("8 ms beyond its bucket", |_, facts| {
            served(facts).p95 = Some(QuantileBucket { above_ns: 0, up_to_ns: Some(10_000_000) });
        }),
    ];
    for (what, change) in cases {
        let (mut report, mut facts) = good();
        change(&mut report, &mut facts);
        let found = validity(&report, &facts);
        assert!(found.ok, "{what}: {:#?}", found.reasons);
    }
}

#[test]
fn the_limits_of_client_against_server_are_settable() {
    let (mut report, mut facts) = good();
    served(&mut facts).limits = ChecksPlan { counts: 0.05, p95_ns: 50_000_000 };
    served(&mut facts).requests = Some(96_000);
    report.latency_ns.service.p95 = Some(60_000_000);
    assert!(validity(&report, &facts).ok);
    served(&mut facts).limits.counts = 0.03;
    served(&mut facts).limits.p95_ns = 30_000_000;
    let names: Vec<String> = validity(&report, &facts).reasons.into_iter().map(|gate| gate.gate).collect();
    assert_eq!(names, ["server_counts", "server_p95"]);
}

#[test]
fn client_against_server_is_silent_where_one_side_has_no_number() {
    let cases: [(&str, &str, Plant); 7] = [
        ("server_counts", "nothing was read", |_, facts| facts.server = None),
        ("server_counts", "no count", |_, facts| served(facts).requests = None),
        ("server_counts", "no answers", |_, facts| served(facts).client.answers = 0),
        ("server_counts", "borders as large as the count", |_, facts| {
            served(facts).client.before_reading = 100_000;
        }),
        ("server_p95", "no histogram", |_, facts| served(facts).p95 = None),
        ("server_p95", "too few answers for it", |report, _| report.latency_ns.service.p95 = None),
        // A restart begins the count again, and an event moves the percentile.
        ("server_counts", "disturbed by events", |_, facts| facts.disturbed = true),
    ];
    for (name, what, change) in cases {
        let (mut report, mut facts) = good();
        change(&mut report, &mut facts);
        let found = validity(&report, &facts);
        assert!(found.gates.iter().all(|gate| gate.gate != name), "{what}: {:#?}", found.gates);
    }
}

#[test]
fn client_against_server_reads_well() {
    let (report, mut facts) = good();
    let text = |facts: &TrialFacts| {
        let found = validity(&report, facts);
        let of_server = found.gates.into_iter().filter(|gate| gate.gate.starts_with("server_"));
        of_server.map(|gate| gate.text.to_string()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(text(&facts), @r"
    the target counted 100,000 requests, the client had 100,000 answers: 0 % apart, 0.7 % allowed, the borders of the samples included
    95 % of the requests took the target 10 ms to 20 ms by its own clock, and 18 ms as the client saw it: 0 ns apart, 8 ms allowed
    ");
    served(&mut facts).requests = Some(90_000);
    served(&mut facts).client.unanswered = 40;
    served(&mut facts).p95 = Some(QuantileBucket { above_ns: 50_000_000, up_to_ns: None });
    insta::assert_snapshot!(text(&facts), @r"
    the target counted 90,000 requests, the client had 100,000 answers and 40 without one: 10 % apart, 0.7 % allowed, the borders of the samples included: find what answers in the target's place (a cache, a proxy, another process that counts for itself), or what its counter leaves out; else report this as a fault of prony
    95 % of the requests took the target more than 50 ms by its own clock, and 18 ms as the client saw it: 32 ms apart, 8 ms allowed: no request takes the target longer than its client; look at the unit and the labels of its histogram in `[metrics]`, else report this as a fault of prony
    ");
    served(&mut facts).requests = Some(150_000);
    served(&mut facts).p95 = Some(QuantileBucket { above_ns: 0, up_to_ns: Some(5_000_000) });
    insta::assert_snapshot!(text(&facts), @r"
    the target counted 150,000 requests, the client had 100,000 answers and 40 without one: 50 % apart, 0.7 % allowed, the borders of the samples included: find who else asks the target, or what its counter counts besides (labels in `[metrics]`)
    95 % of the requests took the target 0 ns to 5 ms by its own clock, and 18 ms as the client saw it: 13 ms apart, 8 ms allowed: time passes where the target's clock does not see it, in the network, in the queues of its sockets or in the generator; use fewer connections or a lower rate, or allow more (`[checks]` p95)
    ");
}
