//! `prony metrics`: what runs came to so far, for Prometheus, what takes its remote write, Pushgateway,
//! OpenTelemetry and Grafana.

use crate::args::{Dashboard, MetricsArgs};
use crate::push::{Receiver, read};
use crate::{exit, interrupt, output};
use anyhow::{Context as _, Result, bail};
use export::{Feed, families, fleet_dashboard, run_dashboard, text};
use serve::{Options, Server};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn metrics(args: &MetricsArgs) -> Result<u8> {
    if let Some(of) = args.dashboard {
        let dashboard = match of {
            Dashboard::Run => run_dashboard(),
            Dashboard::Fleet => fleet_dashboard(),
        };
        output::write(None, &schema::json::pretty(&dashboard)?)?;
        return Ok(exit::DONE);
    }
    if !args.folder.is_dir() {
        bail!(
            "there is no folder {}\n  remedy: name the folder of the runs, as in `prony metrics runs`",
            args.folder.display()
        );
    }
    if let Some(url) = &args.push {
        return Ok(pushed(Receiver::pushgateway(url, &args.consent)?.push(&args.folder)));
    }
    if let Some(receiver) = streamed(args)? {
        return match args.every {
            None => Ok(pushed(receiver.push(&args.folder))),
            Some(every) => {
                let stop = interrupt::stop_flag()?;
                push_every(&receiver, &args.folder, Duration::from_nanos(every.0), &stop);
                Ok(exit::DONE)
            }
        };
    }
    match args.listen {
        Some(listen) => answer(args, listen),
        None => {
            output::write(None, &text(&families(&read(&args.folder)?)))?;
            Ok(exit::DONE)
        }
    }
}

/// What takes values again and again.
fn streamed(args: &MetricsArgs) -> Result<Option<Receiver>> {
    let collector = args.otlp.as_deref().map(|url| Receiver::collector(url, &args.consent));
    let store = args.remote_write.as_deref().map(|url| Receiver::store(url, &args.consent));
    collector.or(store).transpose()
}

fn pushed(result: Result<()>) -> u8 {
    match result {
        Ok(()) => exit::DONE,
        Err(error) => {
            output::say!("prony: {error:#}");
            exit::FAILED
        }
    }
}

/// Sends what is in the folder until it is stopped, and then once more. The reason of a failure is printed once, and
/// again when it changes.
fn push_every(receiver: &Receiver, folder: &Path, every: Duration, stop: &AtomicBool) {
    let quiet = serve::Quiet::begin(None);
    let mut feed = Feed::with_traces(folder);
    let mut said = String::new();
    loop {
        let due = Instant::now() + every;
        // What ended meanwhile is seen by a look after that.
        let is_last = stop.load(Ordering::Relaxed);
        if is_last {
            receiver.hurry();
        }
        feed.look();
        if let Some(quiet) = &quiet {
            quiet.keep_off(feed.pins());
        }
        // Before the first trial there is nothing to send.
        let sent = if feed.runs().next().is_some() { receiver.send(&mut feed) } else { Ok(()) };
        let cause = sent.err().map_or_else(String::new, |error| format!("{error:#}"));
        if !cause.is_empty() && cause != said {
            output::say!("note: {cause}");
        }
        said = cause;
        if is_last {
            return;
        }
        interrupt::wait_until(due, stop, || false);
    }
}

fn answer(args: &MetricsArgs, listen: std::net::SocketAddr) -> Result<u8> {
    let server = Server::bind(Options {
        runs: args.folder.clone(),
        experiments: None,
        listen,
        token: args.token_file.as_deref().map(serve::read_token).transpose()?,
        names: args.names.clone(),
        launcher: std::env::current_exe().context("cannot find prony's own binary")?,
        assets: &[],
        is_quiet: true,
        only_metrics: true,
    })?;
    output::write(None, &format!("metrics: http://{}/metrics\n", server.addr()))?;
    server.run_until_interrupted()?;
    Ok(exit::DONE)
}
