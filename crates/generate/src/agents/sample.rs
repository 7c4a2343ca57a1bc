//! A load for tests.

use plan::LoadJob;
use plan::net::HttpUrl;
use schema::plan::{ExpectPlan, LoadPlan, PhasePlan, RequestPlan, ScenarioPlan};

/// A closed load of a URL by eight workers, two samples of two seconds.
pub(super) fn job(url: &str) -> LoadJob {
    let parsed = HttpUrl::parse(url).unwrap();
    let request = RequestPlan { method: "GET".into(), path: "/".into(), ..RequestPlan::default() };
    LoadJob {
        url: url.to_owned(),
        authority: parsed.authority(),
        to: "127.0.0.1:9".parse().unwrap(),
        further: Vec::new(),
        proxy: None,
        scenario: ScenarioPlan::single("sample", request, ExpectPlan::default()),
        login: None,
        bodies: Vec::new(),
        load: LoadPlan { connections: 8, workers: 8, processes: 1, ..LoadPlan::default() },
        phases: PhasePlan {
            warmup_at_least_ns: 0,
            warmup_at_most_ns: 0,
            warmup_also: Default::default(),
            sample_ns: 2_000_000_000,
            samples: 2,
            drain_ns: 1_000_000_000,
        },
        name: None,
        requests_max: None,
        arrivals_max: None,
        cpus: None,
        spin: false,
        network: None,
        each: None,
    }
}
