//! The scenario of a model: its mix.

use super::{OutFile, quoted, sendable, slug};
use crate::model::{Model, Route};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Real targets of the rare routes, each from some of them.
const OTHER_TARGETS_MAX: usize = 1000;
/// A status code this rare in a route is not accepted from it.
const STATUS_SHARE_MIN: f64 = 0.01;

/// The scenario file and the files of its feeders.
pub(super) fn files(model: &Model, name: &str, notes: &mut Vec<String>) -> Vec<OutFile> {
    let mut parts = Parts { name, requests: String::new(), feeders: String::new(), files: Vec::new() };
    let mut names = HashSet::new();
    for route in model.routes.iter().filter(|route| route.count > 0) {
        let mut targets: Vec<String> = route.targets.iter().map(|target| sendable(target)).collect();
        if targets.is_empty() {
            targets.push(sendable(route.path.as_bytes()));
        }
        parts.add(&unique(route, &mut names), &route.method, route.count, &targets, &status(route));
    }
    let (rest, targets) = other(model);
    if rest > 0 && !targets.is_empty() {
        parts.add("other", "GET", rest, &targets, "");
        notes.push(format!(
            "{rest} requests of rare routes are sent as `other`, with GET and {} real paths of theirs",
            targets.len()
        ));
    }
    notes.extend(doubts(model));
    let mut text = format!(
        "# Made by `prony model` from {} requests. Bodies and headers are in no access log: add those that matter.\n\
         schema = \"prony.scenario/1\"\nname = {}\ndescription = {}\n",
        model.requests,
        quoted(name),
        quoted(&format!("The mix of {} requests of an access log", model.requests)),
    );
    text += &parts.feeders;
    text += &parts.requests;
    let mut files = parts.files;
    files.push(OutFile { path: PathBuf::from(format!("scenarios/{name}.toml")), text });
    files
}

/// What the file is put together from.
struct Parts<'a> {
    name: &'a str,
    requests: String,
    feeders: String,
    files: Vec<OutFile>,
}

impl Parts<'_> {
    fn add(&mut self, request: &str, method: &str, weight: u64, targets: &[String], status: &str) {
        let path = if targets.windows(2).all(|pair| pair[0] == pair[1]) {
            // A plain text: `${` would begin an expression.
            targets[0].replace("${", "$${")
        } else {
            self.feed(targets)
        };
        let _ = write!(
            self.requests,
            "\n[[requests]]\nname = {}\nweight = {weight}\nmethod = {}\npath = {}\n{status}",
            quoted(request),
            quoted(method),
            quoted(&path)
        );
    }

    /// A feeder of real targets; the text that takes one of them.
    fn feed(&mut self, targets: &[String]) -> String {
        let number = self.files.len() + 1;
        let file = format!("{}-paths/r{number}.txt", self.name);
        let _ = write!(
            self.feeders,
            "\n[feeders.r{number}]\nfile = {}\nformat = \"lines\"\norder = \"random\"\n",
            quoted(&file)
        );
        let text = targets.iter().fold(String::new(), |text, target| text + target + "\n");
        self.files.push(OutFile { path: PathBuf::from("scenarios").join(file), text });
        format!("${{r{number}.line}}")
    }
}

/// A request of a scenario with the share and the status codes of a route.
pub(crate) fn step_of(route: &Route, path: &str, names: &mut HashSet<String>) -> String {
    format!(
        "[[requests]]\nname = {}\nweight = {}\nmethod = {}\npath = {}\n{}",
        quoted(&unique(route, names)),
        route.count,
        quoted(&route.method),
        quoted(path),
        status(route)
    )
}

/// A name for a request, unlike all before.
fn unique(route: &Route, names: &mut HashSet<String>) -> String {
    let base = slug(&format!("{} {}", route.method, route.path.replace('/', " ")));
    let base = if route.path == "/" { format!("{base}-root") } else { base };
    let mut name = base.clone();
    let mut number = 2;
    while name == "other" || !names.insert(name.clone()) {
        name = format!("{base}-{number}");
        number += 1;
    }
    name
}

/// The `expect` of a route that answered with other codes than 200 to 399 often enough.
fn status(route: &Route) -> String {
    let all: u64 = route.status.iter().map(|(_, count)| count).sum();
    let is_usual = |(code, count): &&(u16, u64)| {
        (400..600).contains(code) && *count as f64 >= STATUS_SHARE_MIN * all as f64
    };
    let mut codes: Vec<u16> = route.status.iter().filter(is_usual).map(|(code, _)| *code).collect();
    codes.sort_unstable();
    if codes.is_empty() {
        return String::new();
    }
    let codes: String = codes.iter().map(|code| format!(", {code}")).collect();
    format!("expect = {{ status = [\"200-399\"{codes}] }}\n")
}

/// Requests of the rare routes, and real targets of some of them.
fn other(model: &Model) -> (u64, Vec<String>) {
    let is_safe = |route: &&Route| matches!(route.method.as_str(), "GET" | "HEAD");
    let targets = model.rest.iter().filter(is_safe).flat_map(|route| route.targets.iter().take(3));
    (model.other, targets.take(OTHER_TARGETS_MAX).map(|target| sendable(target)).collect())
}

/// What the scenario does not hold.
fn doubts(model: &Model) -> Vec<String> {
    let mut doubts = Vec::new();
    let count = |with: &dyn Fn(&Route) -> bool| -> u64 {
        model.routes.iter().filter(|route| with(route)).map(|route| route.count).sum()
    };
    let with_body = count(&|route| matches!(route.method.as_str(), "POST" | "PUT" | "PATCH"));
    if with_body > 0 {
        doubts.push(format!(
            "{with_body} requests have methods with bodies, which no access log holds: add `json`, `form` or `body`"
        ));
    }
    let changing = count(&|route| !matches!(route.method.as_str(), "GET" | "HEAD" | "OPTIONS"));
    if changing > 0 {
        doubts.push(format!(
            "{changing} requests change data on the server: run them only against a copy, or remove them"
        ));
    }
    doubts
}
