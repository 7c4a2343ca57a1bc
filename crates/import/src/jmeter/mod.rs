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
//! | controllers | steps in order, repeated, or a mix ([`walk`], [`scenario`]) |
//!
//! Invariants: what has no place in a scenario is named with its line in a note; a file is bounded in size, depth and
//! elements ([`xml`]).
//! Absent on purpose: results (`.jtl`), plugins without an equal in prony, and programs in the plan (Groovy, BeanShell).

mod captures;
mod checks;
mod element;
mod feeders;
mod load;
mod names;
mod path;
mod pause;
mod plan;
mod sampler;
mod scenario;
mod schedule;
mod scope;
mod values;
mod walk;
mod xml;

use crate::error::{Problem, quoted};
use crate::imported::{Imported, Options};
use crate::notes::Notes;
use element::{Element, elements};
use plan::Context;
use scope::Scope;
use std::collections::BTreeMap;
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
    let mut context = Context { values: Values::of(constants(test)), notes: &mut notes };
    let group = group(test, options, &mut context)?;
    let mut walk = Walk::new(options, &mut context)?;
    let outer = walk.scope(test, &Scope::default())?;
    walk.group(&group, &outer)?;
    let load = load::read(&group, walk.context)?;
    let imported = scenario::whole(name, description, &group, walk, &load)?;
    Ok(Imported { notes: notes.into_texts(), ..imported })
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
