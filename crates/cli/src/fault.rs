//! `prony reference --fault` and `--list-faults`: the fault server as a process of its own.

use crate::args::{ReferenceArgs, TextOrJson};
use crate::{exit, interrupt};
use anyhow::{Context as _, Result, bail};
use schema::fault::{FaultAsk, FaultConnection, FaultList, FaultListEntry, FaultUnit};
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::fault::{After, Ask, Entry, Fault, FaultServer, Spec, Unit};

/// How often the wish to stop is looked at.
const STOP_POLL: Duration = Duration::from_millis(20);

/// Serves until it is interrupted, then tells what was seen.
pub(crate) fn serve(args: &ReferenceArgs, spec: Spec) -> Result<u8> {
    let server = FaultServer::bind(args.listen, spec)?;
    if let Some(path) = &args.ca_out {
        let Some(pki) = server.pki() else {
            bail!("{} is no fault of TLS, so there is no authority for --ca-out; leave it out", spec.fault);
        };
        std::fs::write(path, pki.authority_pem())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    crate::output::say!("listening on {}", server.addr());
    let stop = interrupt::stop_flag()?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_POLL);
    }
    let counts = server.counts();
    crate::output::say!(
        "{spec}: {} connections, {} requests seen, {} faults played",
        counts.connections,
        counts.requests,
        counts.faults
    );
    Ok(exit::DONE)
}

/// Prints the catalogue.
pub(crate) fn list(format: TextOrJson) -> Result<u8> {
    let entries = Fault::ALL.iter().map(|fault| fault.entry());
    let mut out = crate::output::stdout();
    if format == TextOrJson::Json {
        let list = FaultList { faults: entries.map(listed).collect(), ..FaultList::default() };
        write!(out, "{}", schema::json::pretty(&list)?)?;
        return Ok(exit::DONE);
    }
    let mut group = "";
    for entry in entries {
        if entry.group != group {
            group = entry.group;
            writeln!(out, "\n{group}:")?;
        }
        writeln!(out, "  {:<26} {:<18} {}", entry.name, entry.class.unwrap_or("right"), entry.about)?;
    }
    writeln!(
        out,
        "\n--fault NAME plays it on every request; NAME@every:3 and NAME@first:3 on some. The second column is the\n\
         error class of a request that meets it. More in docs/guides/fault-server.md."
    )?;
    Ok(exit::DONE)
}

fn listed(entry: Entry) -> FaultListEntry {
    FaultListEntry {
        name: entry.name.to_owned(),
        group: entry.group.to_owned(),
        about: entry.about.to_owned(),
        unit: match entry.unit {
            Unit::Listener => FaultUnit::Listener,
            Unit::Connection => FaultUnit::Connection,
            Unit::Request => FaultUnit::Request,
        },
        ask: match entry.ask {
            Ask::Any => FaultAsk::Any,
            Ask::Head => FaultAsk::Head,
            Ask::Call => FaultAsk::Call,
            Ask::LargeBody => FaultAsk::LargeBody,
        },
        tls: entry.tls,
        class: entry.class.map(str::to_owned),
        connection: match entry.after {
            After::Kept => FaultConnection::Kept,
            After::Replaced => FaultConnection::Replaced,
            After::NextFails(_) => FaultConnection::NextFails,
        },
        next_class: match entry.after {
            After::NextFails(class) => Some(class.to_owned()),
            After::Kept | After::Replaced => None,
        },
    }
}
