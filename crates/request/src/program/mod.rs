//! A scenario compiled once to messages, framed by a protocol, and the makers that render its requests.
//!
//! Invariants: request g of a load has the same bytes whatever the number of workers, because all that is random in
//! it comes from a generator of its own (seed and g) and rows and counters are functions of g; after the first
//! requests nothing allocates; making never waits and never panics.
//! Absent on purpose: sockets, the judging of answers (see `check`), scripts.

mod call;
mod captured;
mod chooser;
mod entry;
mod error;
mod framed;
mod made;
mod maker;
#[cfg(test)]
pub(crate) mod tests;
mod traced;

pub use captured::{CAPTURED_BYTES_MAX, Captured};
pub use error::{MakeCause, MakeError, ProgramError};
pub use framed::Framed;
pub use made::{Bytes, Made};
pub use maker::{Maker, User};
pub use traced::untraceable;

use crate::feeder::{Feeder, Source};
use crate::template::node::Node;
use crate::template::{Scope, Var, compile_vars};
use crate::token::Tokens;
use chooser::Chooser;
use entry::Outline;
use schema::plan::{EntryPlan, ScenarioPlan};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use units::{Seed, Tracing};

/// A scenario compiled once; shared by all workers.
#[derive(Debug)]
pub struct Program {
    names: Vec<String>,
    entries: Vec<Entry>,
    /// Sums of weights up to each entry; empty where there is nothing to choose.
    mix: Vec<f64>,
    /// Where rows of a feeder say which entry is next, in place of the mix.
    chooser: Option<Chooser>,
    steps: Option<Vec<u16>>,
    captures: Vec<String>,
    vars: Vec<Var>,
    feeders: Vec<Feeder>,
    feeder_names: Vec<String>,
    token_makers: Vec<String>,
    tokens: Tokens,
    seed: Seed,
    /// Since the Unix epoch.
    clock: fn() -> Duration,
}

/// One request.
#[derive(Debug)]
struct Entry {
    is_head: bool,
    timeout_ns: Option<u64>,
    outline: Outline,
    /// Vars that it needs, in an order in which they can be drawn.
    vars: Vec<u16>,
}

/// What compilation takes from its surroundings.
pub(crate) struct Surroundings<'a> {
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) clock: fn() -> Duration,
    /// Traces of the requests, where they carry any.
    pub(crate) tracing: Option<Tracing>,
}

impl Program {
    /// Compiles a scenario for `host` (the value of the Host field). Files are read and tokens are made before it
    /// returns.
    ///
    /// # Errors
    /// Any mistake in expressions, requests, feeders, tokens or weights: see [`ProgramError`].
    pub fn compile(plan: &ScenarioPlan, host: &str, seed: u64) -> Result<Self, ProgramError> {
        Self::traced(plan, host, seed, None)
    }

    /// As [`Program::compile`], with a header `traceparent` in every request.
    ///
    /// # Errors
    /// As [`Program::compile`]; a request that has such a header already, or a script, which writes its own requests.
    pub fn traced(
        plan: &ScenarioPlan,
        host: &str,
        seed: u64,
        tracing: Option<Tracing>,
    ) -> Result<Self, ProgramError> {
        let since_epoch = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let surroundings =
            Surroundings { env: &|name| std::env::var(name).ok(), clock: since_epoch, tracing };
        Self::compile_in(plan, host, seed, &surroundings)
    }

    pub(crate) fn compile_in(
        plan: &ScenarioPlan,
        host: &str,
        seed: u64,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, ProgramError> {
        let captures = captures(plan);
        check_names(plan, &captures)?;
        if let Some(error) = surroundings.tracing.and_then(|_| untraceable(plan)) {
            return Err(error);
        }
        let token_makers: Vec<String> = plan.tokens.keys().cloned().collect();
        let sources = open_feeders(plan)?;
        let columns: Vec<(String, Vec<String>)> = plan
            .feeders
            .keys()
            .zip(&sources)
            .map(|(name, source)| (name.clone(), source.columns().to_vec()))
            .collect();
        let scope = Scope {
            vars: &[],
            captures: plan.session.as_ref().map(|_| captures.as_slice()),
            feeders: &columns,
            tokens: &token_makers,
            env: surroundings.env,
        };
        let vars = compile_vars(&plan.vars, scope).map_err(|(name, fault)| {
            let text = plan.vars.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
            ProgramError::fault(format!("vars.{name}"), text.as_bytes(), fault)
        })?;
        let mut entries = Vec::new();
        for (index, entry) in plan.requests.iter().enumerate() {
            let key = format!("requests.{index}");
            let with_cookies = plan.session.as_ref().is_some_and(|session| session.cookies);
            let mut outline =
                entry::compile(entry, &key, host, Scope { vars: &vars, ..scope }, with_cookies)?;
            if let Some(tracing) = surroundings.tracing {
                outline.trace(tracing);
            }
            entries.push(Entry::new(entry, outline, &vars));
        }
        let steps = steps(plan)?;
        check_captures(plan, steps.as_deref().unwrap_or_default(), &entries, &vars, &captures)?;
        let chooser = Chooser::new(plan, &columns)?;
        let is_listed = plan.session.as_ref().is_some_and(|session| !session.is_drawn);
        let mix = if is_listed || chooser.is_some() { vec![] } else { mix(plan)? };
        let tokens = Tokens::start(&plan.tokens, &plan.folder, &vars, scope, Seed(seed), surroundings.clock)?;
        let feeders = load_feeders(plan, sources, &entries, &vars, chooser.as_ref(), Seed(seed))?;
        Ok(Self {
            names: plan.requests.iter().map(|entry| entry.name.clone()).collect(),
            entries,
            mix,
            chooser,
            steps,
            captures,
            vars,
            feeders,
            feeder_names: plan.feeders.keys().cloned().collect(),
            token_makers,
            tokens,
            seed: Seed(seed),
            clock: surroundings.clock,
        })
    }

    /// Names of the requests in order; entries are places in it.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether answers have no body whatever their header section says.
    #[inline]
    #[must_use]
    pub fn is_head(&self, entry: u16) -> bool {
        self.entries.get(usize::from(entry)).is_some_and(|entry| entry.is_head)
    }

    /// From written to done; the load's where absent.
    #[inline]
    #[must_use]
    pub fn timeout_ns(&self, entry: u16) -> Option<u64> {
        self.entries.get(usize::from(entry)).and_then(|entry| entry.timeout_ns)
    }

    /// The entries of a session in order; absent for a mix.
    #[must_use]
    pub fn steps(&self) -> Option<&[u16]> {
        self.steps.as_deref()
    }

    /// Names of the token makers; [`TokenUse::maker`](crate::TokenUse::maker) is a place in it.
    #[must_use]
    pub fn token_makers(&self) -> &[String] {
        &self.token_makers
    }

    /// Names of captured values; places in [`Captured`].
    #[must_use]
    pub fn captures(&self) -> &[String] {
        &self.captures
    }

    /// The entry of all requests of a mix that has but one.
    fn only_entry(&self) -> Option<u16> {
        let total = self.mix.last()?;
        let first = self.mix.iter().position(|sum| *sum > 0.0)?;
        (self.mix[first] == *total).then_some(first as u16)
    }

    /// An error in words, with names.
    #[must_use]
    pub fn explain(&self, error: &MakeError) -> String {
        let name = self.names.get(usize::from(error.entry)).map_or("?", String::as_str);
        let what = match error.cause {
            MakeCause::NotCaptured(index) => self.captures.get(usize::from(index)),
            MakeCause::Exhausted(index) | MakeCause::Unreadable(index) | MakeCause::NoSuchRequest(index) => {
                self.feeder_names.get(usize::from(index))
            }
            _ => None,
        };
        match what {
            Some(what) => format!("request `{name}`: {}: `{what}`", error.cause),
            None => format!("request `{name}`: {}", error.cause),
        }
    }
}

impl Entry {
    fn new(plan: &EntryPlan, outline: Outline, vars: &[Var]) -> Self {
        let is_head = plan.request.method == "HEAD";
        let vars = needed(&outline, vars);
        Self { is_head, timeout_ns: plan.timeout_ns, outline, vars }
    }
}

/// The vars that a request uses, also by other vars. Places are in drawing order.
fn needed(outline: &Outline, vars: &[Var]) -> Vec<u16> {
    let mut open = Vec::new();
    let mut note = |node: &Node| {
        if let Node::Var(index) = node {
            open.push(*index);
        }
    };
    outline.nodes().for_each(|node| node.walk(&mut note));
    let mut found = BTreeSet::new();
    while let Some(index) = open.pop() {
        if found.insert(index) {
            vars[usize::from(index)].node.walk(&mut |node| {
                if let Node::Var(below) = node {
                    open.push(*below);
                }
            });
        }
    }
    found.into_iter().collect()
}

fn open_feeders(plan: &ScenarioPlan) -> Result<Vec<Source>, ProgramError> {
    plan.feeders.iter().map(|(name, feeder)| Source::open(name, feeder, &plan.folder)).collect()
}

/// Reads all files; of each the columns that expressions refer to.
fn load_feeders(
    plan: &ScenarioPlan,
    sources: Vec<Source>,
    entries: &[Entry],
    vars: &[Var],
    chooser: Option<&Chooser>,
    seed: Seed,
) -> Result<Vec<Feeder>, ProgramError> {
    let mut used = vec![BTreeSet::new(); sources.len()];
    let mut note = |node: &Node| {
        if let Node::Column { feeder, column } = node {
            used[usize::from(*feeder)].insert(*column);
        }
    };
    chooser.into_iter().for_each(|chooser| note(&chooser.column()));
    vars.iter().for_each(|var| var.node.walk(&mut note));
    entries.iter().flat_map(|entry| entry.outline.nodes()).for_each(|node| node.walk(&mut note));
    let named = plan.feeders.keys().zip(sources).zip(&used);
    named.map(|((name, source), used)| source.load(used, seed.derive("feeder", 0).derive(name, 0))).collect()
}

/// Names of all captured values, each once.
fn captures(plan: &ScenarioPlan) -> Vec<String> {
    let names: BTreeSet<&String> = plan.requests.iter().flat_map(|entry| entry.capture.keys()).collect();
    names.into_iter().cloned().collect()
}

/// A step may use what the answers of earlier steps give.
fn check_captures(
    plan: &ScenarioPlan,
    steps: &[u16],
    entries: &[Entry],
    vars: &[Var],
    captures: &[String],
) -> Result<(), ProgramError> {
    let is_drawn = plan.session.as_ref().is_some_and(|session| session.is_drawn);
    let mut given = BTreeSet::new();
    for (step, index) in steps.iter().map(|step| usize::from(*step)).enumerate() {
        let mut lost = None;
        let mut note = |node: &Node| {
            if let Node::Captured(place) = node
                && !given.contains(&captures[usize::from(*place)])
            {
                lost = Some(&captures[usize::from(*place)]);
            }
        };
        let entry = &entries[index];
        entry.outline.nodes().for_each(|node| node.walk(&mut note));
        entry.vars.iter().for_each(|var| vars[usize::from(*var)].node.walk(&mut note));
        if let Some(name) = lost {
            let (cause, remedy) = if is_drawn {
                let cause = format!("`{name}` is captured by a step, and steps that are drawn have no order");
                (cause, "list the steps, or leave the value out")
            } else {
                let cause = format!("step {} uses `{name}`, which no earlier step captures", step + 1);
                (cause, "put the request that captures it before this one")
            };
            return Err(ProgramError::new(format!("requests.{index}"), cause, remedy));
        }
        if !is_drawn {
            given.extend(plan.requests[index].capture.keys().cloned());
        }
    }
    Ok(())
}

/// Most requests, vars, feeders and captured values: places have 16 bits.
const NAMES_MAX: usize = 1 << 16;

fn check_names(plan: &ScenarioPlan, captures: &[String]) -> Result<(), ProgramError> {
    if plan.requests.is_empty() {
        return Err(ProgramError::new(
            "requests",
            "the scenario has no request",
            "add [request] or [[requests]]",
        ));
    }
    let counts =
        [("requests", plan.requests.len()), ("vars", plan.vars.len()), ("feeders", plan.feeders.len())];
    if let Some((key, _)) = counts.iter().find(|(_, count)| *count >= NAMES_MAX) {
        return Err(ProgramError::new(*key, "more than 65535 entries", "split the scenario"));
    }
    if plan.tokens.len() > usize::from(u8::MAX) {
        return Err(ProgramError::new("tokens", "more than 255 token makers", "split the scenario"));
    }
    if let Some((name, _)) = plan.vars.iter().find(|(name, _)| captures.contains(name)) {
        let cause = format!("`{name}` is a var and a captured value");
        return Err(ProgramError::new(format!("vars.{name}"), cause, "rename one of them"));
    }
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.is_empty()
    };
    let vars = plan.vars.iter().map(|(name, _)| ("vars", name));
    let named = vars.chain(plan.feeders.keys().map(|name| ("feeders", name)));
    match named.into_iter().find(|(_, name)| !is_name(name)) {
        Some((kind, name)) => {
            let cause = format!("`{name}` cannot be written in an expression");
            let remedy = "use letters, digits and `_`, beginning with a letter";
            Err(ProgramError::new(format!("{kind}.{name}"), cause, remedy))
        }
        None => Ok(()),
    }
}

fn steps(plan: &ScenarioPlan) -> Result<Option<Vec<u16>>, ProgramError> {
    let Some(session) = &plan.session else { return Ok(None) };
    if session.steps.is_empty() {
        return Err(ProgramError::new(
            "session.steps",
            "the session has no step",
            "name at least one request",
        ));
    }
    let place = |step: &u32| {
        let is_known = (*step as usize) < plan.requests.len();
        is_known.then_some(*step as u16).ok_or_else(|| {
            ProgramError::new(
                "session.steps",
                format!("there is no request {step}"),
                "name requests that exist",
            )
        })
    };
    session.steps.iter().map(place).collect::<Result<_, _>>().map(Some)
}

fn mix(plan: &ScenarioPlan) -> Result<Vec<f64>, ProgramError> {
    let mut sum = 0.0;
    let mut sums = Vec::new();
    for (index, entry) in plan.requests.iter().enumerate() {
        if !(entry.weight >= 0.0 && entry.weight.is_finite()) {
            let cause = format!("the weight {} is not a number of 0 or more", entry.weight);
            return Err(ProgramError::new(format!("requests.{index}.weight"), cause, "write for example 1"));
        }
        sum += entry.weight;
        sums.push(sum);
    }
    if sum > 0.0 && sum.is_finite() {
        return Ok(sums);
    }
    Err(ProgramError::new(
        "requests.0.weight",
        "the weights add up to nothing",
        "give one request a weight above 0",
    ))
}
