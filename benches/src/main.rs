//! `make bench`: what a request costs prony's generator, against wrk and the other peers on PATH, in one run.
//!
//! One server, one thread each, the same connections, generators on the first CPU and the server on the last; peers in
//! a drawn order inside each repeat. See benches/README.md for what the numbers mean.
//! Invariants: a missed target is printed and never an exit code (speed is no test); every run is kept as it ends; what
//! is no evidence says so wherever it is shown.
//! Exit codes: 0 done, 1 the arguments are wrong, 2 the benchmark could not be run.

mod args;
mod case;
mod chart;
mod cpus;
mod error;
mod host;
mod machine;
mod pacing;
mod peer;
mod plan;
mod programs;
mod record;
mod render;
mod row;
mod run;
mod server;
mod summary;
mod targets;
mod usage;

use args::{Args, Settings};
use case::Job;
use clap::Parser as _;
use cpus::Cpus;
use error::BenchError;
use machine::Machine;
use peer::{BASE, BEFORE, Peer, SELF};
use programs::Program;
use record::Record;
use render::Form;
use row::Row;
use server::Server;
use std::process::ExitCode;
use units::Seed;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match bench(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn bench(args: &Args) -> Result<(), BenchError> {
    let mut settings = args.settings()?;
    let prony = programs::prony(args.prony.as_deref(), args.build)?;
    let own = programs::own_folder()?;
    let before = args.before.as_deref().map(programs::check).transpose()?;
    let server = programs::server(&own)?;
    let mut programs = programs::find_all(&own, &prony, before.as_deref())?;
    let is_wanted = |peer: &Peer| {
        let name = peer.name;
        settings.peers.is_empty()
            || name == SELF
            || name == BEFORE
            || name == BASE.name
            || settings.peers.iter().any(|p| p == name)
    };
    programs.retain(|program| is_wanted(program.peer));
    let there: Vec<&Peer> = programs.iter().map(|program| program.peer).collect();
    let others = plan::other_repeats(settings.repeats, &settings.cases, &there, settings.seconds);
    settings.other_repeats.get_or_insert(others);
    let cpus = Cpus::of_this_process()?;
    let newer = programs::newer_source(&prony);
    let identities = programs.iter().map(Program::identity).collect();
    let mut machine = Machine::look(&settings, &cpus, (&prony, &server), identities, newer.as_deref());
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let results = record::workspace().join("benches/results");
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| record::default_folder(&results, &date, &machine::name(), settings.quick));
    let mut record = Record::open(&folder)?;
    record.json("machine.json", &machine)?;
    announce(&machine, &record);

    let mut server = Server::start(&server, &cpus)?;
    let rows = measure(&settings, &programs, &cpus, &mut server, &mut record)?;
    drop(server);
    machine.check_unchanged(&programs);
    record.json("machine.json", &machine)?;

    let peers: Vec<&str> = programs.iter().map(|program| program.peer.name).collect();
    print!("{}", report(&settings, &machine, &rows, &peers, Form::Text));
    let mut charts = String::new();
    for chart in &chart::CHARTS {
        if let Some(svg) = chart.draw(&rows, &peers)? {
            record.text(chart.file, &svg)?;
            charts.push_str(&chart::embedded(&chart.title, &chart.file));
        }
    }
    let summary = report(&settings, &machine, &rows, &peers, Form::Markdown);
    record.text("summary.md", &format!("{summary}{charts}"))?;
    println!("\nraw.csv, summary.md, charts and machine.json: {}", record.folder.display());
    Ok(())
}

fn announce(machine: &Machine, record: &Record) {
    for program in &machine.programs {
        eprintln!("{}", program.line());
    }
    for peer in peer::PEERS
        .iter()
        .filter(|peer| peer.name != BEFORE && machine.programs.iter().all(|found| !found.is(peer)))
    {
        eprintln!("{}: not on PATH, left out ({})", peer.name, peer.install);
    }
    for weakness in &machine.weaknesses {
        eprintln!("weakness: {weakness}");
    }
    eprintln!("results: {}", record.folder.display());
}

/// Warms every peer once, then makes all runs of the plan.
fn measure(
    settings: &Settings,
    programs: &[Program],
    cpus: &Cpus,
    server: &mut Server,
    record: &mut Record,
) -> Result<Vec<Row>, BenchError> {
    let peers: Vec<&Peer> = programs.iter().map(|program| program.peer).collect();
    let warm = settings
        .cases
        .iter()
        .copied()
        .find(|case| case.rate_per_s.is_none())
        .or(settings.cases.first().copied());
    for program in programs {
        let able = warm.filter(|case| plan::takes_part(program.peer, case, 1));
        if let Some(case) = able {
            let url = server.url(&case);
            run::run(program, &Job { url: &url, case, seconds: 1 }, cpus, server)?;
        }
    }
    let repeats = (settings.repeats, settings.other_repeats.unwrap_or(settings.repeats));
    let steps = plan::steps(repeats, &settings.cases, &peers, Seed(settings.seed));
    let minutes = plan::duration_s(steps.len(), settings.seconds) / 60.0;
    eprintln!(
        "{} runs, about {minutes:.0} minutes; {} repeats, others {}",
        steps.len(),
        repeats.0,
        repeats.1
    );
    let mut rows = Vec::with_capacity(steps.len());
    for (position, step) in (0_u32..).zip(&steps) {
        let url = server.url(&step.case);
        let job = Job { url: &url, case: step.case, seconds: settings.seconds };
        let row = run::run(&programs[step.program], &job, cpus, server)?;
        let row = Row { repeat: step.repeat, position, ..row };
        record.add(&row)?;
        progress(&row, steps.len());
        rows.push(row);
    }
    Ok(rows)
}

fn progress(row: &Row, runs: usize) {
    let cost = row.cpu_us_per_request.map_or("–".to_owned(), |us| format!("{us:.2} µs/request"));
    let void = if row.is_valid() { String::new() } else { format!("  void: {}", row.void) };
    let (peer, case) = (&row.peer, &row.case);
    eprintln!("{:>4}/{runs}  {peer:<10} {case:<12} {cost}{void}", row.position + 1);
}

/// The whole report: tables, targets, and what weakens it, opening with whether it is evidence.
fn report(settings: &Settings, machine: &Machine, rows: &[Row], peers: &[&str], form: Form) -> String {
    let cases: Vec<&str> = settings.cases.iter().map(|case| case.name).collect();
    let cases = &cases[..];
    let markdown = form == Form::Markdown;
    let mut out = String::new();
    let mut part = |title: &str, body: &str| {
        out.push_str(&if markdown {
            format!("## {title}\n\n{body}\n")
        } else {
            format!("\n{title}\n{body}")
        });
    };
    let list = |lines: Vec<String>| lines.iter().map(|line| format!("- {line}\n")).collect::<String>();
    let weak: Vec<String> =
        machine.weaknesses.iter().cloned().chain(render::notes(rows, cases, peers)).collect();
    let belief = match (machine.evidence, weak.is_empty()) {
        (false, _) => "NOT EVIDENCE",
        (true, false) => "Evidence, weakened by",
        (true, true) => "Evidence",
    };
    part(belief, &list(weak));
    let measured = format!("{} repeats of {} s, medians", settings.repeats, settings.seconds);
    part(&measured, &render::main_table(rows, cases, peers, form));
    let paced: Vec<&str> = cases.iter().copied().filter(|name| name.starts_with("rate-")).collect();
    if !paced.is_empty() {
        part("Constant rates, as the server saw them", &render::pace_table(rows, &paced, peers, form));
    }
    if markdown {
        part("prony over each peer", &render::peer_table(rows, cases, peers, form));
        part("Programs", &list(machine.programs.iter().map(programs::Identity::line).collect()));
    }
    part(
        if machine.evidence { "Targets" } else { "Targets (not evidence)" },
        &list(targets::verdicts(rows, cases, peers)),
    );
    if markdown { format!("# Cost of a request\n\n{out}") } else { out }
}
