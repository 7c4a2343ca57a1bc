//! Scripts of k6: the requests of a virtual user with checks and pauses as a session, the options as arguments of a load.
//!
//! A script is a program, and this is no interpreter: it follows the statements of one function in their order, with the
//! values that are known before the load. What has no equal (conditions, loops, other modules) is left out, and named
//! with its line.

mod checks;
mod lexer;
mod load;
mod parser;
mod tree;
mod values;
mod walk;

use crate::error::{Problem, quoted};
use crate::imported::{Imported, Options};
use crate::steps::Steps;
use schema::arrival::Think;
use schema::scenario::OnFailure;
use std::collections::BTreeMap;
use tree::{Expr, Function, Kind, Statement};
use values::{Scope, Val};
use walk::Walk;

/// Functions that k6 calls beside those of virtual users.
const AROUND: [(&str, &str); 3] = [
    ("setup", "prepare the target before the load: see --setup"),
    ("teardown", "clean up after the load: see --teardown"),
    ("handleSummary", "prony has reports of its own"),
];

/// Whether the begin of a text is a script of k6.
pub(crate) fn is_script(begin: &str) -> bool {
    begin.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("import") && (line.contains("'k6/http'") || line.contains("\"k6/http\""))
    })
}

pub(crate) fn read(
    name: &str,
    text: &str,
    description: String,
    options: &Options,
) -> Result<Imported, Problem> {
    let statements = parser::parse(text)?;
    let mut functions = BTreeMap::new();
    collect(&statements, &mut functions);
    let mut steps = Steps::new(options)?;
    let mut scope = Scope::default();
    let mut line = 1;
    constants(&statements, &mut scope, &mut steps, &mut line);
    let load = load::options(scope.get("options"), options.group.as_deref(), line, &mut steps.notes)?;
    let exec = load.exec.as_deref().unwrap_or("default");
    let Some(user) = functions.get(exec) else {
        return Err(Problem::new(
            format!("the script has no function {}", quoted(exec)),
            "give a script with `export default function () { … }`",
        ));
    };
    for (around, why) in AROUND.iter().filter(|(around, _)| functions.contains_key(*around)) {
        steps.leave_out(&format!("{around}()"), why);
    }
    let mut walk = Walk::new(steps, &functions, scope);
    walk.block(&user.body)?;
    let after = walk.pause();
    let steps = walk.steps;
    let is_session =
        steps.requests.len() > 1 || steps.requests.iter().any(|request| !request.capture.is_empty());
    let mut arguments = load.arguments;
    if let Some(think) = after.filter(|_| !load.is_open) {
        arguments.push(format!("--think '{}'", argument(&think)));
    }
    // A check of k6 that fails ends no iteration.
    steps.finish(name, description, is_session.then_some(OnFailure::GoOn), arguments)
}

/// All functions with names, those that are values of a name included.
fn collect(statements: &[Statement], functions: &mut BTreeMap<String, Function>) {
    for statement in statements {
        match &statement.kind {
            Kind::Function(name, function) => drop(functions.insert(name.clone(), function.clone())),
            Kind::Declare(name, Expr::Function(function)) => {
                drop(functions.insert(name.clone(), (**function).clone()));
            }
            Kind::Block(inner) => collect(inner, functions),
            _ => {}
        }
    }
}

/// Values at the head of the script; what is only done there, such as making metrics, is named.
fn constants(statements: &[Statement], scope: &mut Scope, steps: &mut Steps<'_>, line: &mut usize) {
    for statement in statements {
        match &statement.kind {
            Kind::Declare(name, value) => {
                if name == "options" {
                    *line = statement.line;
                }
                if !matches!(value, Expr::Function(_)) {
                    let value = scope.value(value, &mut steps.notes);
                    if let Val::Unknown(what) = &value {
                        let what = format!("{name} = {what} (line {})", statement.line);
                        steps.leave_out(&what, "its value is not known before the load");
                    }
                    scope.put(name, value);
                }
            }
            Kind::Block(inner) => constants(inner, scope, steps, line),
            Kind::Other(what) => {
                let what = format!("{what} (line {})", statement.line);
                steps.leave_out(&what, "outside of the function of a user");
            }
            Kind::Function(..) | Kind::Run(_) | Kind::Return(_) | Kind::Nothing => {}
        }
    }
}

/// A pause as an argument has it.
fn argument(think: &Think) -> String {
    match think {
        Think::Uniform { from, to } => format!("uniform:from={},to={to}", from.unwrap_or_default()),
        Think::Constant { mean } => mean.to_string(),
        _ => String::new(),
    }
}
