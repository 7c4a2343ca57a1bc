//! The function of a virtual user, statement by statement: requests, checks, pauses, groups.
//!
//! Invariant: a statement that has no equal is named with its line; functions of the script are followed into, with a
//! limit of depth, of statements and of calls.

use super::checks;
use super::tree::{Expr, Function, Kind, Statement};
use super::values::{Scope, Val, pieces};
use crate::error::{Problem, quoted};
use crate::steps::Steps;
use crate::texts::{self, Piece};
use schema::arrival::Think;
use schema::scenario::NamedRequest;
use std::collections::BTreeMap;
use units::Nanos;

/// What a note calls expressions that only a running script knows.
const UNKNOWN: &str = "expressions whose value is not known before the load";
/// Functions that call each other.
const CALLS_MAX: usize = 8;
/// Statements that are followed.
const STATEMENTS_MAX: usize = 50_000;
/// Longest pause.
const PAUSE_MAX_S: f64 = 86_400.0;

/// Puts an expression into the one around it.
type Outer<'e> = Box<dyn FnOnce(Expr) -> Expr + 'e>;

/// Walks through the functions of a script.
pub(super) struct Walk<'s, 'o> {
    pub(super) steps: Steps<'o>,
    functions: &'s BTreeMap<String, Function>,
    scope: Scope,
    groups: Vec<String>,
    calls: usize,
    statements: usize,
    /// Pause since the last request: shortest and longest, in seconds.
    pause_s: (f64, f64),
}

impl<'s, 'o> Walk<'s, 'o> {
    pub(super) fn new(steps: Steps<'o>, functions: &'s BTreeMap<String, Function>, scope: Scope) -> Self {
        Self { steps, functions, scope, groups: Vec::new(), calls: 0, statements: 0, pause_s: (0.0, 0.0) }
    }

    /// The pause that no request came after.
    pub(super) fn pause(&self) -> Option<Think> {
        think(self.pause_s)
    }

    fn leave_out(&mut self, what: &str, line: usize, why: &str) {
        self.steps.leave_out(&format!("{what} (line {line})"), why);
    }

    fn count(&mut self, line: usize) -> Result<(), Problem> {
        self.statements += 1;
        if self.statements > STATEMENTS_MAX {
            return Err(Problem::new(
                "the functions of the script call each other without end",
                "import a script that does not",
            )
            .at(line));
        }
        Ok(())
    }

    /// Follows statements; false where a `return` ends them.
    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<bool, Problem> {
        for statement in statements {
            self.count(statement.line)?;
            if !self.statement(statement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, statement: &Statement) -> Result<bool, Problem> {
        let line = statement.line;
        match &statement.kind {
            Kind::Nothing | Kind::Function(..) => {}
            Kind::Block(inner) => return self.block(inner),
            Kind::Declare(name, value) => self.assign(name, value, line)?,
            Kind::Run(Expr::Assign(name, value)) => self.assign(name, value, line)?,
            Kind::Run(expr) => drop(self.run(expr, line)?),
            Kind::Return(expr) => {
                self.run(expr, line)?;
                return Ok(false);
            }
            Kind::Other(what) => {
                let why = match what.as_str() {
                    "if" | "switch" => "a session has no conditions, with all below it",
                    "for" | "while" | "do" => "a session has no loops, with all below it",
                    _ => "a session has nothing of the kind, with all below it",
                };
                self.leave_out(what, line, why);
            }
        }
        Ok(true)
    }

    fn assign(&mut self, name: &str, value: &Expr, line: usize) -> Result<(), Problem> {
        let value = self.run(value, line)?;
        self.scope.put(name, value);
        Ok(())
    }

    /// Does what an expression does, and gives its value.
    fn run(&mut self, expr: &Expr, line: usize) -> Result<Val, Problem> {
        if let Some((method, arguments)) = expr.method_of("http") {
            return self.http(method, arguments, line);
        }
        if let Some(arguments) = expr.call_of("sleep") {
            self.sleep(arguments.first(), line);
            return Ok(Val::Null);
        }
        if let Some(arguments) = expr.call_of("check") {
            self.check(arguments, line)?;
            return Ok(Val::Null);
        }
        if let Some([name, Expr::Function(function), ..]) = expr.call_of("group") {
            let name = self.scope.value(name, &mut self.steps.notes);
            let name = pieces(&name, &mut self.steps.requests);
            self.groups.push(texts::plain(&name).unwrap_or_else(|| "group".to_owned()));
            let done = self.block(&function.body);
            self.groups.pop();
            return done.map(|_| Val::Null);
        }
        if expr.method_of("console").is_some() {
            return Ok(Val::Null);
        }
        if let Expr::Call(callee, arguments) = expr
            && let Expr::Name(name) = &**callee
            && let Some(function) = self.functions.get(name)
        {
            return self.call(name, function, arguments, line);
        }
        let value = match self.hoisted(expr, line)? {
            Some(expr) => self.scope.value(&expr, &mut self.steps.notes),
            None => self.scope.value(expr, &mut self.steps.notes),
        };
        if let (Expr::Call(callee, _), Val::Unknown(_)) = (expr, &value) {
            let what = format!("{}(…)", callee.shown());
            self.leave_out(&what, line, "prony has no equal");
        }
        Ok(value)
    }

    /// `http.post(…).json('token')` with the answer under a name of its own; nothing where no request stands within.
    fn hoisted(&mut self, expr: &Expr, line: usize) -> Result<Option<Expr>, Problem> {
        let (inner, outer): (&Expr, Outer<'_>) = match expr {
            Expr::Call(callee, arguments) => {
                (callee, Box::new(|inner| Expr::Call(Box::new(inner), arguments.clone())))
            }
            Expr::Member(of, name) => (of, Box::new(|inner| Expr::Member(Box::new(inner), name.clone()))),
            Expr::Index(of, at) => (of, Box::new(|inner| Expr::Index(Box::new(inner), at.clone()))),
            _ => return Ok(None),
        };
        if inner.method_of("http").is_some()
            || matches!(inner, Expr::Call(of, _) if matches!(**of, Expr::Name(_)))
        {
            let value = self.run(inner, line)?;
            // No script has such a name.
            let name = format!(" {}", self.statements);
            self.scope.put(&name, value);
            return Ok(Some(outer(Expr::Name(name))));
        }
        Ok(self.hoisted(inner, line)?.map(outer))
    }

    fn call(
        &mut self,
        name: &str,
        function: &Function,
        arguments: &[Expr],
        line: usize,
    ) -> Result<Val, Problem> {
        if self.calls == CALLS_MAX {
            self.leave_out(&format!("{name}(…)"), line, "functions call each other too deeply");
            return Ok(Val::Unknown(format!("{name}(…)")));
        }
        // A function may be no more than what it returns.
        self.count(line)?;
        let mut parameters = BTreeMap::new();
        for (at, parameter) in function.parameters.iter().enumerate() {
            let value = match arguments.get(at) {
                Some(argument) => self.run(argument, line)?,
                None => Val::Null,
            };
            parameters.insert(parameter.clone(), value);
        }
        self.scope.enter(parameters);
        self.calls += 1;
        let mut given = Val::Null;
        let mut result = Ok(());
        for statement in &function.body {
            // What it returns is what its caller goes on with.
            if let Kind::Return(expr) = &statement.kind {
                match self.run(expr, statement.line) {
                    Ok(value) => given = value,
                    Err(problem) => result = Err(problem),
                }
                break;
            }
            match self.block(std::slice::from_ref(statement)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(problem) => {
                    result = Err(problem);
                    break;
                }
            }
        }
        self.calls -= 1;
        self.scope.leave();
        result.map(|()| given)
    }

    fn sleep(&mut self, argument: Option<&Expr>, line: usize) {
        let (low, high) = match argument {
            // `Math.random() * 3 + 1`, `randomIntBetween(1, 4)`
            Some(expr) => match self.seconds(expr) {
                Some(range) => range,
                None => {
                    self.leave_out("sleep(…)", line, "its length is not known before the load");
                    return;
                }
            },
            None => return,
        };
        self.pause_s = (self.pause_s.0 + low, self.pause_s.1 + high);
    }

    /// Shortest and longest of a time in seconds.
    fn seconds(&mut self, expr: &Expr) -> Option<(f64, f64)> {
        let is_time = |seconds: &f64| (0.0..=PAUSE_MAX_S).contains(seconds);
        if let Expr::Binary(sign, left, right) = expr {
            let (a, b) = (self.seconds(left)?, self.seconds(right)?);
            return match *sign {
                "+" => Some((a.0 + b.0, a.1 + b.1)),
                "*" => Some((a.0 * b.0, a.1 * b.1)),
                "/" if b.0 == b.1 && b.0 > 0.0 => Some((a.0 / b.0, a.1 / b.0)),
                _ => None,
            };
        }
        if let Some(("random", [])) = expr.method_of("Math") {
            return Some((0.0, 1.0));
        }
        if let Some([low, high]) = expr.call_of("randomIntBetween") {
            let (low, high) = (self.seconds(low)?.0, self.seconds(high)?.1);
            return (low <= high).then_some((low, high));
        }
        match self.scope.value(expr, &mut self.steps.notes) {
            Val::Number(seconds) if is_time(&seconds) => Some((seconds, seconds)),
            _ => None,
        }
    }

    fn check(&mut self, arguments: &[Expr], line: usize) -> Result<(), Problem> {
        let Some(first) = arguments.first() else { return Ok(()) };
        let answer = self.run(first, line)?;
        let (Val::Answer(place), Some(Expr::Object(entries))) = (answer, arguments.get(1)) else {
            self.leave_out("check(…)", line, "it is not about the answer to a request above it");
            return Ok(());
        };
        for entry in entries {
            let put = match place.and_then(|place| self.steps.requests.get_mut(place)) {
                Some(request) => checks::put(entry, &mut request.expect),
                None => Err("its request is left out"),
            };
            if let Err(why) = put {
                self.leave_out(&format!("check {}", quoted(&entry.name)), entry.line, why);
            }
        }
        Ok(())
    }

    fn http(&mut self, method: &str, arguments: &[Expr], line: usize) -> Result<Val, Problem> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.run(argument, line)?);
        }
        let mut values = values.into_iter();
        let (verb, has_body) = match method {
            "get" => ("GET", false),
            "head" => ("HEAD", false),
            "post" => ("POST", true),
            "put" => ("PUT", true),
            "patch" => ("PATCH", true),
            "del" => ("DELETE", true),
            "options" => ("OPTIONS", true),
            "request" | "asyncRequest" => {
                let verb = values.next().map(|verb| pieces(&verb, &mut self.steps.requests));
                let verb = verb.and_then(|verb| texts::plain(&verb)).unwrap_or_default().to_ascii_uppercase();
                let url = values.next().unwrap_or(Val::Null);
                return self.request(&verb, (url, values.next(), values.next()), line);
            }
            "batch" => return self.batch(values.next(), line),
            other => {
                self.leave_out(&format!("http.{other}(…)"), line, "it sends nothing that a load can");
                return Ok(Val::Answer(None));
            }
        };
        let url = values.next().unwrap_or(Val::Null);
        let body = if has_body { values.next() } else { None };
        self.request(verb, (url, body, values.next()), line)
    }

    fn batch(&mut self, given: Option<Val>, line: usize) -> Result<Val, Problem> {
        self.steps.notes.count("requests of http.batch, sent one after the other");
        let all: Vec<(String, Val)> = match given {
            Some(Val::List(all)) => {
                all.into_iter().enumerate().map(|(at, one)| (at.to_string(), one)).collect()
            }
            Some(Val::Object(all)) => all,
            _ => {
                self.leave_out("http.batch(…)", line, "its requests are not known before the load");
                return Ok(Val::Answer(None));
            }
        };
        let mut answers = Vec::new();
        for (name, one) in all {
            let answer = match one {
                Val::List(parts) => {
                    let mut parts = parts.into_iter();
                    let verb = parts.next().map(|verb| pieces(&verb, &mut self.steps.requests));
                    let verb = verb.and_then(|verb| texts::plain(&verb)).unwrap_or_else(|| "GET".to_owned());
                    let url = parts.next().unwrap_or(Val::Null);
                    self.request(&verb.to_ascii_uppercase(), (url, parts.next(), parts.next()), line)?
                }
                Val::Object(parts) => {
                    let of = |name: &str| {
                        parts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
                    };
                    let verb = of("method").map(|verb| pieces(&verb, &mut self.steps.requests));
                    let verb = verb.and_then(|verb| texts::plain(&verb)).unwrap_or_else(|| "GET".to_owned());
                    let url = of("url").unwrap_or(Val::Null);
                    self.request(&verb.to_ascii_uppercase(), (url, of("body"), of("params")), line)?
                }
                url => self.request("GET", (url, None, None), line)?,
            };
            answers.push((name, answer));
        }
        let is_list = answers.iter().enumerate().all(|(at, (name, _))| *name == at.to_string());
        Ok(if is_list {
            Val::List(answers.into_iter().map(|(_, answer)| answer).collect())
        } else {
            Val::Object(answers)
        })
    }

    fn request(
        &mut self,
        verb: &str,
        (url, body, params): (Val, Option<Val>, Option<Val>),
        line: usize,
    ) -> Result<Val, Problem> {
        let address = pieces(&url, &mut self.steps.requests);
        let origin = self.steps.origin();
        let url = texts::url(&address, origin.as_ref(), UNKNOWN, &mut self.steps.notes)
            .map_err(|problem| problem.at(line))?;
        let mut made = NamedRequest { method: Some(verb.to_owned()), ..NamedRequest::default() };
        let path = url.path.split('?').next().unwrap_or_default();
        let mut title = format!("{verb} {path}");
        if let Some(Val::Object(entries)) = params {
            self.params(entries, &mut made, &mut title, line);
        }
        self.body(body, &mut made, line);
        made.think = think(self.pause_s).filter(|_| !self.steps.requests.is_empty());
        let title = self.groups.iter().cloned().chain([title]).collect::<Vec<_>>().join(" / ");
        let place = self.steps.add(&title, url, made).map_err(|problem| problem.at(line))?;
        if place.is_some_and(|place| place > 0) {
            self.pause_s = (0.0, 0.0);
        }
        Ok(Val::Answer(place))
    }

    fn params(
        &mut self,
        entries: Vec<(String, Val)>,
        made: &mut NamedRequest,
        title: &mut String,
        line: usize,
    ) {
        for (name, value) in entries {
            match (name.as_str(), value) {
                ("headers", Val::Object(fields)) => {
                    for (field, value) in fields {
                        let value = self.text(&value);
                        made.headers.insert(field, value);
                    }
                }
                ("cookies", Val::Object(cookies)) => {
                    let mut pairs = Vec::new();
                    for (cookie, value) in cookies {
                        pairs.push(format!("{cookie}={}", self.text(&value)));
                    }
                    made.headers.insert("Cookie".to_owned(), pairs.join("; "));
                }
                ("tags", Val::Object(tags)) => {
                    let named = tags.iter().find(|(tag, _)| tag == "name").map(|(_, value)| value.clone());
                    let named = named.map(|value| pieces(&value, &mut self.steps.requests));
                    if let Some(named) = named.and_then(|pieces| texts::plain(&pieces)) {
                        *title = named;
                    }
                }
                ("timeout", Val::Number(ms)) if ms > 0.0 => made.timeout = Some(Nanos((ms * 1e6) as u64)),
                ("timeout", Val::Text(text)) => {
                    made.timeout = texts::plain(&text).and_then(|text| text.parse().ok());
                }
                ("responseType" | "responseCallback" | "compression", _) | (_, Val::Null) => {}
                (other, _) => self.leave_out(
                    &format!("the parameter {other}"),
                    line,
                    "it is a setting of the load, or of none",
                ),
            }
        }
    }

    fn body(&mut self, body: Option<Val>, made: &mut NamedRequest, line: usize) {
        match body {
            None | Some(Val::Null) => {}
            // k6 encodes an object as a form.
            Some(Val::Object(fields)) => {
                let mut form = BTreeMap::new();
                for (name, value) in fields {
                    form.insert(name, self.text(&value));
                }
                made.form = Some(form);
            }
            Some(Val::Unknown(what)) => {
                self.leave_out(
                    &format!("the body {}", quoted(&what)),
                    line,
                    "it is not known before the load",
                );
            }
            Some(value) => {
                let text = self.text(&value);
                made.body = (!text.is_empty()).then_some(text);
            }
        }
    }

    fn text(&mut self, value: &Val) -> String {
        let pieces: Vec<Piece> = pieces(value, &mut self.steps.requests);
        texts::text(&pieces, UNKNOWN, &mut self.steps.notes)
    }
}

/// A pause between two times in seconds; none where there is none.
fn think((low, high): (f64, f64)) -> Option<Think> {
    let nanos = |seconds: f64| Nanos((seconds.clamp(0.0, PAUSE_MAX_S) * 1e9).round() as u64);
    if high <= 0.0 {
        return None;
    }
    Some(if low == high {
        Think::Constant { mean: nanos(low) }
    } else {
        Think::Uniform { from: Some(nanos(low)), to: nanos(high) }
    })
}
