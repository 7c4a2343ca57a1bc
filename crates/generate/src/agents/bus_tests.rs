//! Agents on a real bus, fed a recorded log.

use super::muster::Muster;
use super::on_bus::join;
use super::protocol::Errand;
use super::tests::{INTERVALS, check_same, merged, plan};
use super::trust_tests::{Keys, Serving};
use schema::fleet::{AgentLink, FleetPlan};
use testkit::nats::NatsServer;

#[test]
fn one_log_fed_to_eight_agents_on_a_bus_is_the_same_to_the_byte() {
    let Some(bus) = NatsServer::start("-1", &[]) else { return };
    let names: Vec<String> = (1..=8).map(|number| format!("load-{number}")).collect();
    let keys = Keys::of(&names);
    let serving: Vec<Serving> = names.iter().map(|name| Serving::start(&keys, name)).collect();
    let joining = names.iter().zip(&serving);
    let joined: Vec<_> = joining
        .map(|(name, own)| join(bus.address(), name, &keys.folder(name), own.address, |_| {}).unwrap())
        .collect();
    let link = AgentLink::Nats {
        server: bus.address().to_owned(),
        keys: keys.folder("controller").display().to_string(),
    };
    let agents = names.iter().map(|name| plan(name, link.clone())).collect();
    let muster = Muster::call(&FleetPlan { agents }, &[], &Errand::default()).unwrap();
    let (found, report) = merged(muster, names.len());
    check_same("eight agents on a bus", &found);
    let sum = |number: fn(&schema::agents::AgentReport) -> u64| report.agents.iter().map(number).sum::<u64>();
    assert_eq!(sum(|agent| agent.completed + agent.failed), 20_000);
    assert_eq!(sum(|agent| agent.parcels), 8 * INTERVALS);
    assert_eq!(sum(|agent| agent.repeated + agent.reconnects), 0);
    drop(joined);
}
