//! Test plans of JMeter 5 (`.jmx`): a thread group becomes a scenario, and its numbers the arguments of a load.
//!
//! | JMeter | prony |
//! |---|---|
//! | thread group | a session, its loops and duration as arguments of `prony load` ([`load`]) |
//! | HTTP request, defaults, header and cookie managers | a step ([`sampler`], [`scope`]) |
//! | timers | the pause before a step ([`pause`]) |
//! | assertions | checks ([`checks`]) |
//! | extractors | captured values ([`captures`]) |
//! | CSV data set | a feeder ([`feeders`]) |
//! | user variables, functions | texts and expressions ([`values`]) |
//! | controllers | steps in order, repeated, or a mix ([`walk`]) |
//!
//! Invariants: what has no place in a scenario is named with its line in a note; a file is bounded in size, depth and
//! elements ([`xml`]).
//! Absent on purpose: results (`.jtl`), plugins without an equal in prony, and programs in the plan (Groovy, BeanShell).

mod captures;
mod checks;
mod element;
mod feeders;
mod load;
mod path;
mod pause;
mod plan;
mod sampler;
mod schedule;
mod scope;
mod values;
mod walk;
mod xml;

use crate::error::{Problem, quoted};
use crate::imported::{Imported, Options};
use crate::notes::Notes;
use element::{Element, elements};
use load::Load;
use plan::{Context, called};
use schema::arrival::Think;
use schema::scenario::{OnFailure, ScenarioFile, Session};
use schema::version::ScenarioVersion;
use scope::Scope;
use std::collections::BTreeMap;
use units::Nanos;
use values::Values;
use walk::Walk;

/// The scenario of a test plan's thread group.
pub(crate) fn read(
    name: &str,
    text: &str,
    description: String,
    options: &Options,
) -> Result<Imported, Problem> {
    let root = xml::parse(text)?;
    if root.tag != "jmeterTestPlan" {
        return Err(Problem::new(
            format!("this is no test plan of JMeter: its first element is {}", quoted(&root.tag)),
            "give a .jmx file, as JMeter saves plans",
        )
        .at(root.line));
    }
    let plans: Vec<Element<'_>> = root.child("hashTree").into_iter().flat_map(elements).collect();
    let Some(test) = plans.iter().find(|element| element.kind() == "TestPlan") else {
        return Err(Problem::new("there is no TestPlan in it", "save the whole plan in JMeter").at(root.line));
    };
    let mut notes = Notes::default();
    let mut context =
        Context { values: Values { constants: constants(test), ..Values::default() }, notes: &mut notes };
    let group = group(test, options, &mut context)?;
    let mut walk = Walk::new(options, &mut context)?;
    let outer = Scope::default().with(test.below(), &mut walk.beside, walk.context)?;
    walk.group(&group, &outer)?;
    let load = load::read(&group, walk.context)?;
    let (imported, load) = assembled(name, description, &group, walk, &load)?;
    Ok(Imported { notes: notes.into_texts(), load, ..imported })
}

/// User variables of the whole plan, which JMeter reads before it begins.
fn constants(test: &Element<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut put = |items: &mut dyn Iterator<Item = element::Properties<'_>>| {
        for item in items {
            let name = item.value("Argument.name").unwrap_or(item.name()).trim();
            if !name.is_empty() {
                found.insert(name.to_owned(), item.value("Argument.value").unwrap_or_default().to_owned());
            }
        }
    };
    let own = test.properties().part("TestPlan.user_defined_variables");
    put(&mut own.into_iter().flat_map(|part| part.items("Arguments.arguments")));
    let mut waiting = vec![*test];
    while let Some(element) = waiting.pop() {
        let below: Vec<Element<'_>> = element.below().collect();
        for child in below.iter().filter(|child| child.kind() == "Arguments") {
            put(&mut child.properties().items("Arguments.arguments"));
        }
        // The first in the file is the last on the stack.
        waiting.extend(below.into_iter().rev());
    }
    found
}

/// The thread group that is asked for, or the only one.
fn group<'a>(
    test: &Element<'a>,
    options: &Options,
    context: &mut Context<'_>,
) -> Result<Element<'a>, Problem> {
    let mut groups = Vec::new();
    for element in test.below().filter(|element| element.kind().ends_with("ThreadGroup")) {
        match element.kind() {
            "SetupThreadGroup" | "PostThreadGroup" => {
                context.leave_out(&element, "prepare the target before the load, and clean up after it");
            }
            _ => groups.push(element),
        }
    }
    for element in
        test.below().filter(|element| !element.kind().ends_with("ThreadGroup") && scope::is_sender(element))
    {
        context.leave_out(&element, "it stands in no thread group");
    }
    let is_wanted =
        |element: &&Element<'a>| options.group.as_deref().is_none_or(|name| element.name() == name.trim());
    let wanted: Vec<&Element<'a>> = groups.iter().filter(is_wanted).collect();
    let names = || groups.iter().map(|group| quoted(group.name())).collect::<Vec<_>>().join(", ");
    match wanted[..] {
        [only] => {
            for other in groups.iter().filter(|other| other.line() != only.line()) {
                context
                    .leave_out(other, "a scenario is one thread group: import it on its own, with --group");
            }
            Ok(*only)
        }
        [] if groups.is_empty() => Err(Problem::new(
            "there is no enabled thread group in the plan",
            "enable one in JMeter, and save the plan",
        )
        .at(test.line())),
        [] => Err(Problem::new(
            format!("there is no thread group {}", quoted(options.group.as_deref().unwrap_or_default())),
            format!("name one of: {}", names()),
        )
        .at(test.line())),
        [_, second, ..] => Err(Problem::new(
            format!("there are {} thread groups, and a scenario is one of them: {}", wanted.len(), names()),
            "name one with --group, and import each on its own",
        )
        .at(second.line())),
    }
}

/// Puts the scenario together; the arguments of its load beside it.
fn assembled(
    name: &str,
    description: String,
    group: &Element<'_>,
    walk: Walk<'_, '_, '_>,
    load: &Load,
) -> Result<(Imported, Vec<String>), Problem> {
    let Walk { context, beside, mut requests, steps, is_mix, origin, follows, keeps_alive, .. } = walk;
    let Some(origin) = origin.filter(|_| !steps.is_empty()) else {
        let remedy = match context.notes.commonest_origin() {
            Some(other) => format!("give its server: --origin {other}"),
            None => "enable its HTTP requests in JMeter; if, while and script elements are not taken over"
                .to_owned(),
        };
        return Err(
            Problem::new(format!("no request of {} can be sent", called(group)), remedy).at(group.line())
        );
    };
    let counts_sessions = beside.vars.values().any(|expression| expression.contains("session()"));
    let is_single =
        steps.len() == 1 && requests[0].capture.is_empty() && !beside.keeps_cookies && !counts_sessions;
    let is_session = !is_mix && !is_single;
    let first_think = requests[steps[0]].think.clone();
    if !is_session {
        if requests.iter().any(|request| request.think != first_think) {
            context
                .notes
                .count("pauses that differ between the requests of a mix: the load has that of the first");
        }
        requests.iter_mut().for_each(|request| request.think = None);
        if is_mix && beside.keeps_cookies {
            context.notes.count("cookies of a mix are not kept: its requests belong to no user");
        }
    } else if first_think.is_some() {
        context.notes.count(
            "pauses before the first request of a session: give them to the load as --think, as below",
        );
    }
    let mut vars = beside.vars.clone();
    if !is_session {
        vars.values_mut().for_each(|expression| *expression = expression.replace("session()", "counter()"));
    }
    let mut arguments =
        load.arguments(&beside, if is_session { steps.len() } else { 1 }, first_think.as_ref(), context);
    if follows.iter().any(|follows| *follows) {
        // JMeter's own limit.
        arguments.push("--follow=20".to_owned());
    }
    match keeps_alive.iter().filter(|keeps| !**keeps).count() {
        0 => {}
        count if count == keeps_alive.len() => arguments.push("--disable-keepalive".to_owned()),
        _ => context.notes.count("requests without keep-alive: a load keeps all connections, or none"),
    }
    let think = is_session.then(|| {
        let mean = |place: &usize| requests[*place].think.as_ref().map_or(Nanos::ZERO, mean_of);
        steps.iter().map(mean).collect()
    });
    let session = is_session.then(|| {
        let is_plain = steps.iter().copied().eq(0..requests.len());
        let names = || steps.iter().map(|step| requests[*step].name.clone()).collect();
        Session {
            steps: (!is_plain).then(names),
            cookies: (!beside.keeps_cookies).then_some(false),
            on_failure: on_failure(group, context),
            ..Session::default()
        }
    });
    let scenario = ScenarioFile {
        schema: ScenarioVersion::V1,
        name: name.to_owned(),
        description: Some(description),
        services: Vec::new(),
        request: None,
        expect: None,
        requests,
        vars,
        feeders: beside.feeders,
        tokens: BTreeMap::new(),
        session,
        choose: None,
    };
    let imported = Imported {
        scenario,
        origin: origin.to_string(),
        bodies: Vec::new(),
        notes: Vec::new(),
        think,
        load: Vec::new(),
    };
    Ok((imported, arguments))
}

/// What a failed request does to the rest of the session.
fn on_failure(group: &Element<'_>, context: &mut Context<'_>) -> OnFailure {
    match group.value("ThreadGroup.on_sample_error") {
        None | Some("continue") => OnFailure::GoOn,
        Some("startnextloop") => OnFailure::End,
        Some(_) => {
            context.change(
                group,
                "a failed request ends its session, and not the thread or the test: see --fail",
            );
            OnFailure::End
        }
    }
}

fn mean_of(think: &Think) -> Nanos {
    match think {
        Think::Constant { mean }
        | Think::Exponential { mean }
        | Think::Normal { mean, .. }
        | Think::Lognormal { mean, .. }
        | Think::Weibull { mean, .. }
        | Think::Gamma { mean, .. } => *mean,
        Think::Uniform { from, to } => Nanos(u64::midpoint(from.unwrap_or_default().0, to.0)),
    }
}
