//! Agents that are asked what they do, and that are asked to end: idle, at work, and out of reach.

use super::control::Agents;
use super::door::Listener;
use super::maker::Make;
use super::muster::Muster;
use super::overseer::{Ending, Progress, end, list};
use super::portable::pack;
use super::protocol::{Errand, Wish};
use super::sample;
use super::tests::{INTERVALS, POLL, Replay, agent, plan};
use engine::Step;
use schema::fleet::{AgentLink, FleetPlan};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than any limit that ends a wait.
const LONG: Duration = Duration::from_secs(30);

/// An agent that serves until it is asked to end, and the word that lets its next interval go.
fn serve(folder: &Path) -> (FleetPlan, Sender<()>, JoinHandle<()>) {
    let path = folder.join("agent");
    let listener = Listener::Unix(UnixListener::bind(&path).unwrap());
    let (go, gate) = channel();
    let gate = Mutex::new(Some(gate));
    let make: Make = Arc::new(move |_, part, _| Ok(Box::new(Replay::new(part, gate.lock().unwrap().take()))));
    let thread = std::thread::spawn(move || {
        agent().serve_with(&listener, &AtomicBool::new(false), make).unwrap();
    });
    let link = AgentLink::Unix { path: path.display().to_string() };
    (FleetPlan { agents: vec![plan("lone", link)] }, go, thread)
}

fn errand() -> Errand {
    Errand { wish: Wish::Load, about: "http://shop/ \u{7}for me".to_owned() }
}

/// A load that has begun.
fn begin(fleet: &FleetPlan) -> Agents {
    let job = sample::job("http://127.0.0.1:9");
    let muster = Muster::call(fleet, &[], &errand()).unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    agents.begin(Some(0));
    agents
}

/// How many intervals come until the load is over.
fn intervals(agents: &mut Agents) -> u64 {
    let mut found = 0;
    loop {
        match agents.next(POLL).unwrap().0 {
            Step::Interval(_) => found += 1,
            Step::Waiting => {}
            Step::Ended => return found,
        }
    }
}

fn next(heard: &Receiver<(usize, Progress)>) -> Progress {
    heard.recv_timeout(LONG).unwrap().1
}

#[test]
fn an_idle_agent_ends_as_soon_as_it_is_asked() {
    for ending in [Ending::Drain, Ending::Stop] {
        let folder = tempfile::tempdir().unwrap();
        let (fleet, _go, thread) = serve(folder.path());
        let state = list(&fleet).agents[0].state.clone().unwrap();
        assert!(!state.is_ending && state.load.is_none(), "{state:?}");
        let heard = end(&fleet, ending);
        let took = next(&heard);
        assert!(
            matches!(&took, Progress::Took(state) if state.is_ending && state.load.is_none()),
            "{took:?}"
        );
        assert!(matches!(next(&heard), Progress::Ended));
        thread.join().unwrap();
    }
}

#[test]
fn an_agent_that_drains_finishes_its_load_and_takes_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, go, thread) = serve(folder.path());
    let mut agents = begin(&fleet);
    let found = list(&fleet);
    let load = found.agents[0].state.as_ref().unwrap().load.clone().unwrap();
    assert_eq!(load.about, "http://shop/ for me", "as its controller says, without what a terminal obeys");
    assert!(found.agents[0].clock.is_some_and(|clock| clock.exchanges >= 32), "{found:?}");
    let heard = end(&fleet, Ending::Drain);
    let took = next(&heard);
    assert!(matches!(&took, Progress::Took(state) if state.is_ending && state.load.is_some()), "{took:?}");
    assert!(list(&fleet).agents[0].state.as_ref().unwrap().is_ending);
    (0..INTERVALS).for_each(|_| go.send(()).unwrap());
    drop(go);
    assert_eq!(intervals(&mut agents), INTERVALS, "the load is whole");
    assert!(agents.stopped_by().is_none());
    drop(agents);
    assert!(matches!(next(&heard), Progress::Ended));
    thread.join().unwrap();
}

#[test]
fn an_agent_that_drains_refuses_the_next_load_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, go, thread) = serve(folder.path());
    let agents = begin(&fleet);
    let heard = end(&fleet, Ending::Drain);
    next(&heard);
    drop(agents);
    // Its load is gone, and with it the agent: whoever comes hears either.
    drop(go);
    let error = Muster::call(&fleet, &[], &errand()).map(drop).unwrap_err().to_string();
    assert!(error.contains("agent lone"), "{error}");
    assert!(matches!(next(&heard), Progress::Ended));
    thread.join().unwrap();
}

#[test]
fn an_agent_that_is_stopped_ends_the_load_of_all_and_keeps_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, go, thread) = serve(folder.path());
    let mut agents = begin(&fleet);
    go.send(()).unwrap();
    while !matches!(agents.next(POLL).unwrap().0, Step::Interval(_)) {}
    let heard = end(&fleet, Ending::Stop);
    assert!(matches!(next(&heard), Progress::Took(state) if state.load.is_some()));
    assert_eq!(intervals(&mut agents), 0, "nothing more is made");
    assert_eq!(agents.stopped_by(), Some("lone"));
    drop(agents);
    assert!(matches!(next(&heard), Progress::Ended));
    thread.join().unwrap();
}

#[test]
fn a_load_that_is_set_up_is_stopped_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, _go, thread) = serve(folder.path());
    let job = sample::job("http://127.0.0.1:9");
    let muster = Muster::call(&fleet, &[], &errand()).unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    let heard = end(&fleet, Ending::Stop);
    assert!(matches!(next(&heard), Progress::Took(_)));
    let error = loop {
        match agents.next(POLL).map(|(step, _)| step) {
            Ok(Step::Waiting) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("agent lone refuses: it was stopped"), "{error}");
    assert!(matches!(next(&heard), Progress::Ended));
    drop(agents);
    thread.join().unwrap();
}

#[test]
fn an_agent_that_cannot_be_reached_is_named_and_one_without_a_life_of_its_own_is_not_started() {
    let gone = AgentLink::Unix { path: "/nonexistent/agent.sock".to_owned() };
    let fleet = FleetPlan { agents: vec![plan("gone", gone), plan("near", AgentLink::Here)] };
    let heard = end(&fleet, Ending::Drain);
    let mut found: Vec<_> = heard.iter().collect();
    found.sort_by_key(|(number, _)| *number);
    assert!(
        matches!(&found[0].1, Progress::Failed(error) if error.to_string().contains("agent gone cannot be reached")),
        "{found:?}"
    );
    assert!(matches!(found[1].1, Progress::NoNeed) && found.len() == 2, "{found:?}");
    let only = FleetPlan { agents: fleet.agents[..1].to_vec() };
    let error = list(&only).agents[0].error.clone().unwrap();
    assert!(error.contains("agent gone cannot be reached") && error.contains("remedy: "), "{error}");
}
