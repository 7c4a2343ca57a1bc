//! A session's steps by name.

use crate::load::arrival;
use schema::plan::{EntryPlan, SessionPlan};
use schema::scenario::Session;
use schema::text::{Problem, nearest};

/// The plan of a session over these requests.
pub(super) fn plan(session: &Session, requests: &[EntryPlan]) -> Result<SessionPlan, Problem> {
    let steps = match &session.steps {
        None => (0..requests.len() as u32).collect(),
        Some(names) => names
            .iter()
            .enumerate()
            .map(|(place, name)| step(name, place, requests))
            .collect::<Result<_, _>>()?,
    };
    let steps: Vec<u32> = steps;
    if steps.is_empty() {
        return Err(Problem::at("session.steps", "a session has no step", "name at least one request"));
    }
    Ok(SessionPlan {
        steps,
        think: session.think.as_ref().map(|think| arrival::think(think, "session.think")).transpose()?,
        connection: session.connection,
        cookies: session.cookies.unwrap_or(true),
        on_failure: session.on_failure,
    })
}

fn step(name: &str, place: usize, requests: &[EntryPlan]) -> Result<u32, Problem> {
    let found = requests.iter().position(|entry| entry.name == name);
    found.map(|place| place as u32).ok_or_else(|| {
        let remedy = match nearest(name, requests.iter().map(|entry| entry.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of [[requests]]".to_owned(),
        };
        Problem::at(&format!("session.steps.{place}"), format!("there is no request `{name}`"), remedy)
    })
}
