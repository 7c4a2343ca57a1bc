//! A session's steps by name.

use crate::load::arrival;
use schema::plan::{EntryPlan, SessionPlan};
use schema::scenario::{Session, StepOrder};
use schema::text::{Problem, nearest};

/// The plan of a session over these requests.
pub(super) fn plan(session: &Session, requests: &[EntryPlan]) -> Result<SessionPlan, Problem> {
    let is_drawn = session.order == StepOrder::Drawn;
    if is_drawn && session.steps.is_some() {
        let cause = "drawn steps are any of the requests";
        return Err(Problem::at(
            "session.steps",
            cause,
            "remove it, or the order: weights say how often each comes",
        ));
    }
    if is_drawn && session.length.is_none() {
        let remedy = "add length, for example \"exponential:mean=5\"";
        return Err(Problem::at("session.order", "a session of drawn steps has no end", remedy));
    }
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
        length: session.length.as_ref().map(|law| arrival::length(law, "session.length")).transpose()?,
        is_drawn,
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

#[cfg(test)]
mod tests {
    use crate::scenario::load_scenario_file;
    use std::io::Write as _;

    fn refused(text: &str) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        load_scenario_file(file.path(), None).expect_err(text).to_string()
    }

    #[test]
    fn drawn_steps_have_a_length_and_weights_and_no_list() {
        let head = "schema = \"prony.scenario/1\"\nname = \"x\"\n[session]\n";
        let request = "[[requests]]\nname = \"a\"\nweight = 2\npath = \"/\"\n";
        for (session, request, cause) in [
            ("order = \"drawn\"\n", request.to_owned(), "has no end"),
            (
                "order = \"drawn\"\nlength = \"exponential:mean=3\"\nsteps = [\"a\"]\n",
                request.to_owned(),
                "any of the requests",
            ),
            (
                "order = \"drawn\"\nlength = \"exponential:mean=0\"\n",
                request.to_owned(),
                "mean of the length 0 is out of range",
            ),
            (
                "order = \"drawn\"\nlength = \"exponential:mean=3\"\n",
                format!("{request}think = \"1s\"\n"),
                "one law of pauses",
            ),
            (
                "order = \"drawn\"\nlength = \"exponential:mean=3\"\n",
                request.replace("2", "0"),
                "all weights are 0",
            ),
            (
                "order = \"drawn\"\nlength = \"exponential:mean=3\"\n",
                format!(
                    "{request}capture.b = {{ json = \"/b\" }}\n{}",
                    request.replace("\"a\"", "\"c\"").replace("\"/\"", "\"/${b}\"")
                ),
                "steps that are drawn have no order",
            ),
            ("length = \"exponential:mean=3\"\n", request.to_owned(), "has no weights"),
        ] {
            let error = refused(&format!("{head}{session}{request}"));
            assert!(error.contains(cause), "{cause}: {error}");
        }
    }
}
