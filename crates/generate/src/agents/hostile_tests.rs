//! Agents that lie, and one that is silent: each ends the load with its name and what was wrong.

use super::control::Agents;
use super::facts::facts;
use super::link::over_unix;
use super::parcel::{Stamps, wrap};
use super::portable::pack;
use super::protocol::{Greeting, Order, Report, VERSION, next_line, sums};
use super::sample;
use super::tests::{POLL, booked, over, plan};
use crate::lines::write_line;
use crate::set_up::SetUp;
use engine::{Part, Step, machine_ns};
use fleet::{Manifest, Parcel, digest};
use schema::fleet::AgentLink;
use schema::plan::DriverChoice;
use std::io::{BufReader, Write as _};
use std::os::unix::net::UnixStream;

/// What it says once the load has begun, given its session.
type Lie = Box<dyn FnOnce(&UnixStream, &str) + Send>;

/// An honest parcel, to be spoiled.
fn parcel(session: &str, place: usize) -> Parcel<String> {
    let data = &booked(Part { first: 0, workers: 8 })[place];
    let body = wrap(data, Stamps::default());
    let digest = digest(body.as_bytes());
    Parcel {
        session: session.to_owned(),
        agent: 0,
        interval: place as u64,
        digest,
        sums: sums(&data.counts),
        body,
    }
}

fn say(to: &UnixStream, report: &Report) {
    // The controller may be gone already.
    let _ = write_line(&mut &*to, report);
}

/// What comes of a load by an agent that lies: the error's words.
fn caught(lie: Lie) -> String {
    let (here, there) = UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut reader, mut line, mut lie) = (BufReader::new(&there), Vec::new(), Some(lie));
        next_line(&mut reader, &mut line).unwrap();
        let greeting: Greeting = serde_json::from_slice(&line).unwrap();
        say(&there, &Report::Hello { version: VERSION, facts: Box::new(facts(None)) });
        while let Ok(Some(())) = next_line(&mut reader, &mut line) {
            match serde_json::from_slice(&line).unwrap() {
                Order::Clock(number) => say(&there, &Report::Clock { number, at_ns: machine_ns() }),
                Order::Load { .. } => say(
                    &there,
                    &Report::Ready(SetUp { asked: 1, established: 1, ..SetUp::new(DriverChoice::Epoll) }),
                ),
                Order::Begin { .. } => {
                    if let Some(lie) = lie.take() {
                        lie(&there, &greeting.session);
                    }
                }
                _ => {}
            }
        }
    });
    let job = sample::job("http://127.0.0.1:9");
    let muster = over(vec![(plan("liar", AgentLink::Here), over_unix(here))]).unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    agents.begin(Some(0));
    let error = loop {
        match agents.next(POLL).map(|(step, _)| step) {
            Ok(Step::Ended) => panic!("the load is over as if all were well"),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    drop(agents);
    thread.join().unwrap();
    assert!(error.contains("agent liar"), "{error}");
    error
}

fn check(words: &str, lie: impl FnOnce(&UnixStream, &str) + Send + 'static) {
    let error = caught(Box::new(lie));
    assert!(error.contains(words), "{words}: {error}");
}

/// A parcel, spoiled.
fn check_parcel(words: &str, spoil: impl FnOnce(&mut Parcel<String>) + Send + 'static) {
    check(words, |to, session| {
        let mut parcel = parcel(session, 0);
        spoil(&mut parcel);
        say(to, &Report::Parcel(Box::new(parcel)));
    });
}

#[test]
fn parcels_of_others_and_of_other_times_are_refused() {
    check_parcel("agent 7 came where another was expected", |parcel| parcel.agent = 7);
    check_parcel("came where another was expected", |parcel| parcel.session = "an earlier one".to_owned());
    check_parcel("far ahead", |parcel| parcel.interval = 1);
    check_parcel("far ahead", |parcel| parcel.interval = u64::MAX);
}

#[test]
fn contents_that_are_not_what_they_are_said_to_be_are_refused() {
    check_parcel("an interval is damaged", |parcel| parcel.body.push(' '));
    check_parcel("the counts of an interval are not those in it", |parcel| parcel.sums.completed += 1);
    check_parcel("cannot be understood", |parcel| {
        parcel.body = "{}".to_owned();
        parcel.digest = digest(b"{}");
    });
    // The same interval again under the next number would count twice.
    check("not the next that can have ended", |to, session| {
        let first = parcel(session, 0);
        let again = Parcel { interval: 1, ..first.clone() };
        say(to, &Report::Parcel(Box::new(first)));
        say(to, &Report::Parcel(Box::new(again)));
    });
    check("not the next that can have ended", |to, session| {
        let mut data = booked(Part { first: 0, workers: 8 }).remove(0);
        data.counts.index = 1_000_000;
        let body = wrap(&data, Stamps::default());
        let parcel = Parcel { digest: digest(body.as_bytes()), body, ..parcel(session, 0) };
        say(to, &Report::Parcel(Box::new(parcel)));
    });
    check("came twice with different contents", |to, session| {
        say(to, &Report::Parcel(Box::new(parcel(session, 0))));
        let mut other = parcel(session, 1);
        other.interval = 0;
        say(to, &Report::Parcel(Box::new(other)));
    });
}

#[test]
fn a_manifest_that_is_not_of_what_came_is_refused() {
    check("are not whole", |to, session| {
        let first = parcel(session, 0);
        let manifest = Manifest { parcels: 1, digest: [0; 32], sums: first.sums };
        say(to, &Report::Parcel(Box::new(first)));
        say(to, &Report::Closing { manifest, peak_rss_bytes: 1, steal_share: None });
    });
    check("are not whole", |to, session| {
        let first = parcel(session, 0);
        say(to, &Report::Parcel(Box::new(first.clone())));
        say(to, &Report::Parcel(Box::new(parcel(session, 1))));
        let manifest = Manifest { parcels: 1, digest: first.digest, sums: first.sums };
        say(to, &Report::Closing { manifest, peak_rss_bytes: u64::MAX, steal_share: Some(f64::MAX) });
    });
}

#[test]
fn words_that_are_no_reports_or_come_unasked_end_the_load() {
    check("is no report", |to, _| drop((&*to).write_all(b"\xff\0\n")));
    check("is no report", |to, _| drop((&*to).write_all(b"{\"Parcel\":{}}\n")));
    check("what nobody asked for", |to, _| say(to, &Report::Ended));
    check("a file that the load does not have", |to, _| say(to, &Report::Wants(vec!["0".repeat(64)])));
    check("64 MiB", |to, _| {
        let piece = vec![b'x'; 1 << 20];
        let _ = (0..66).try_for_each(|_| (&*to).write_all(&piece));
    });
    check("its link ended", |to, _| drop(to.shutdown(std::net::Shutdown::Both)));
}

#[test]
fn an_agent_that_falls_silent_is_named() {
    // The thread sleeps in its lie for longer than a lease: it answers no beat meanwhile.
    check("nothing was heard of agent liar for 10 s", |_, _| {
        let (_never, waits) = std::sync::mpsc::channel::<()>();
        let _ = waits.recv_timeout(std::time::Duration::from_secs(15));
    });
}
