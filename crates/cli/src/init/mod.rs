//! `prony init`: an experiment file from three answers, or from flags, and the plan that it makes.

mod ask;
mod draft;
mod service;

use crate::args::{AlarmArgs, InitArgs, MonitorArgs, RunArgs, TextOrJson};
use crate::{output, run};
use anyhow::{Result, bail};
use ask::Answers;
use draft::{Draft, Load, Wishes};
use plan::Context;
use plan::net::{HttpUrl, is_free};
use service::Service;
use std::io::{IsTerminal, stderr, stdin};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::Nanos;

/// How long the experiment may take where nothing is said.
const TIME: Nanos = Nanos::from_secs(300);
/// How long a service that should run already may take to accept a connection.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) fn init(args: &InitArgs) -> Result<u8> {
    let project = plan::project_above(Path::new("here"));
    let Answers { services, time } = answers(args, &project)?;
    let notes: Vec<String> = services.iter().filter_map(not_there).collect();
    let hosts = hosts_to_consent(&services);
    let load = args.rate.map(Load::Open).or(args.connections.map(Load::Closed));
    let draft = Draft::new(Wishes {
        services,
        time,
        path: args.path.as_deref(),
        load,
        blocks: args.blocks,
        name: args.name.as_deref(),
    })?;
    let file = args.output.clone().unwrap_or_else(|| place(&draft.name));
    if file.exists() && !args.force {
        bail!("{} exists already; give another -o, or --force to overwrite it", file.display());
    }
    let text = draft.toml(&file.display().to_string());
    // Nothing is written that prony run would refuse.
    let usable_cpus = launch::pin::usable_cpus()?;
    plan::experiment(
        &file.display().to_string(),
        &text,
        &Context { project: plan::project_above(&file), usable_cpus, pin: None },
    )?;
    output::write(Some(&file), &text)?;
    run::run(&dry_run(&file))?;
    output::write(None, &next(&file, &hosts, &notes))?;
    Ok(crate::exit::DONE)
}

/// From the arguments, or asked for.
fn answers(args: &InitArgs, project: &Path) -> Result<Answers> {
    let time = args.time.unwrap_or(TIME);
    if args.services.is_empty() {
        if !(stdin().is_terminal() && stderr().is_terminal()) {
            bail!("no service is named, and there is no terminal to ask at; name a URL or a command");
        }
        return ask::ask(&mut stdin().lock(), &mut stderr(), project, time);
    }
    let services = args.services.iter().map(|text| Service::parse(text, project)).collect::<Result<_>>()?;
    Ok(Answers { services, time })
}

fn place(name: &str) -> PathBuf {
    let folder = Path::new("experiments");
    let file = format!("{name}.toml");
    if folder.is_dir() { folder.join(file) } else { PathBuf::from(file) }
}

/// A URL behind which nothing is, where looking needs no consent.
fn not_there(service: &Service) -> Option<String> {
    let Service::Url(url) = service else { return None };
    let address = url.resolve(&[]).ok()?;
    let error = TcpStream::connect_timeout(&address, LOOK).err()?;
    Some(format!("{} does not answer yet ({error}): start it before you run the experiment", url.origin()))
}

/// Public hosts, which prony loads with consent only.
fn hosts_to_consent(services: &[Service]) -> Vec<String> {
    let is_public = |url: &HttpUrl| url.resolve(&[]).map_or(true, |address| !is_free(address.ip()));
    let url = |service: &Service| match service {
        Service::Url(url) if is_public(url) => Some(url.host.clone()),
        Service::Url(_) | Service::Folder(_) | Service::Command(_) => None,
    };
    let mut hosts: Vec<String> = services.iter().filter_map(url).collect();
    hosts.dedup();
    hosts
}

fn dry_run(file: &Path) -> RunArgs {
    RunArgs {
        monitor: MonitorArgs::default(),
        alarms: AlarmArgs::default(),
        file: Some(file.to_owned()),
        dry_run: true,
        short: false,
        resume: None,
        blocks: 0,
        runs: PathBuf::from("runs"),
        pin: None,
        fleet: None,
        tune: false,
        turbo_off: false,
        consent: Vec::new(),
        junit: None,
        format: TextOrJson::Text,
    }
}

/// What to do now.
fn next(file: &Path, hosts: &[String], notes: &[String]) -> String {
    let consent: String = hosts.iter().map(|host| format!(" --consent {host}")).collect();
    let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    format!("\n{notes}written: {0}\nnext:    prony run {0}{consent}\n", file.display())
}
