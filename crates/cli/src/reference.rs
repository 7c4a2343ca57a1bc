//! `prony reference`: the reference target as a process of its own.

use crate::args::ReferenceArgs;
use crate::{exit, fault, interrupt, reference_tls};
use anyhow::{Context as _, Result, bail};
use schema::experiment::Reference;
use std::net::TcpListener;
use testkit::reference::{Law, serve};

pub(crate) fn reference(args: &ReferenceArgs) -> Result<u8> {
    if args.list_faults {
        return fault::list(args.format);
    }
    if !args.listen.ip().is_loopback() && !args.public {
        bail!("{} can be reached from other machines; add --public if that is meant", args.listen.ip());
    }
    if let Some(spec) = args.fault {
        return fault::serve(args, spec);
    }
    let law = Law::try_from(&Reference {
        law: Some(args.law),
        mean: Some(args.mean),
        servers: Some(args.servers),
        seed: Some(args.seed),
        error_rate: Some(args.error_rate),
        reset_rate: Some(args.reset_rate),
        freeze: args.freeze.clone(),
    })?;
    let listener = TcpListener::bind(args.listen).with_context(|| {
        format!("cannot listen on {}; choose another --listen, port 0 takes a free one", args.listen)
    })?;
    let tls = args.tls.then(|| reference_tls::config(args)).transpose()?;
    eprintln!("listening on {}", listener.local_addr()?);
    let stop = interrupt::stop_flag()?;
    serve(&listener, law, tls, &stop)?;
    Ok(exit::DONE)
}
