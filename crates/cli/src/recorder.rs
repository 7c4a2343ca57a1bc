//! `prony record`: a proxy that writes the requests that pass it to a log that `prony replay` can send.

use crate::args::RecordArgs;
use crate::output::OutputError;
use crate::{exit, interrupt};
use anyhow::{Context as _, Result, bail};
use mirror::{Log, MirrorError, Totals};
use plan::net::{HttpUrl, Scheme};
use record::RecordError;
use std::net::TcpListener;
use traffic::replay::BODY_BYTES_MAX;
use units::format::{counted, grouped};

pub(crate) fn record(args: &RecordArgs) -> Result<u8> {
    if !args.listen.ip().is_loopback() && !args.public {
        bail!("{} can be reached from other machines; add --public if that is meant", args.listen.ip());
    }
    let url = HttpUrl::parse(&args.to)?;
    if url.scheme == Scheme::Https {
        bail!(
            "`{}` speaks TLS, which a proxy that reads cannot pass on\n  remedy: record in front of the server without TLS",
            args.to
        );
    }
    let to = url.resolve(&args.consent)?;
    let listener = TcpListener::bind(args.listen).with_context(|| {
        format!(
            "cannot listen on {}\n  remedy: give another port with --listen, or port 0 for a free one",
            args.listen
        )
    })?;
    let stop = interrupt::stop_flag()?;
    let bodies_max = if args.no_bodies { 0 } else { BODY_BYTES_MAX };
    let log = Log::create(&args.output, bodies_max).with_context(|| {
        format!(
            "cannot make {}\n  remedy: give a file that does not exist, in a folder that you may write to",
            args.output.display()
        )
    })?;
    crate::output::say!("listening on {}, passing on to {}; Ctrl-C ends", listener.local_addr()?, args.to);
    let totals = mirror::serve(&listener, to, log, &stop).map_err(|error| match error {
        MirrorError::Log(source) => {
            OutputError::File(RecordError::io("write", &args.output)(source).into()).into()
        }
        other => anyhow::Error::from(other),
    })?;
    tell(args, &totals);
    Ok(exit::DONE)
}

fn tell(args: &RecordArgs, totals: &Totals) {
    let (requests, connections) =
        (counted(totals.requests, "request"), counted(totals.connections, "connection"));
    crate::output::say!("{} recorded: {requests} of {connections}", args.output.display());
    for (count, what) in [
        (totals.without_body, "without a body in the log: it is no text, over 64 KiB, or was left out"),
        (totals.unanswered, "not in the log: the connection ended before the answer"),
        (totals.unread, "connections passed on and not read to their end: they speak no HTTP/1.1"),
    ] {
        if count > 0 {
            crate::output::say!("  {} {what}", grouped(count));
        }
    }
    crate::output::say!("prony replay {} --url {} --writes sends them again", args.output.display(), args.to);
}
