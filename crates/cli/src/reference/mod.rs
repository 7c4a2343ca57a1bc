//! `prony reference`: the reference target as a process of its own, or as several on one address.

mod bound;
mod family;

use crate::args::ReferenceArgs;
use crate::{exit, fault, interrupt, reference_tls};
use anyhow::{Context as _, Result, bail};
use bound::{Bound, busy};
use family::Family;
pub(crate) use family::Member;
use plan::processes::{connections_per_process, raise_descriptor_limit};
use schema::experiment::Reference;
use std::sync::atomic::AtomicBool;
use testkit::reference::{Law, Place, serve};
use units::Nanos;

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
    raise_descriptor_limit();
    let law = Law::try_from(&law(args))?;
    let stop = interrupt::stop_flag()?;
    if let Some(member) = &args.member {
        return member.serve(law, &stop);
    }
    match processes(args)? {
        1 => serve_alone(args, law, &stop),
        processes if args.tls => {
            bail!("--tls is served by one process, not by {processes}; ask for fewer connections")
        }
        processes => Family::start(args.listen, processes)?.serve(law, &stop),
    }
}

fn law(args: &ReferenceArgs) -> Reference {
    Reference {
        law: Some(args.law),
        mean: Some(args.mean),
        burn: Some(args.burn),
        servers: Some(args.servers),
        seed: Some(args.seed),
        error_rate: Some(args.error_rate),
        reset_rate: Some(args.reset_rate),
        freeze: args.freeze.clone(),
        leak_memory: args.leak_memory,
        leak_descriptors: args.leak_descriptors,
        cache: args.cache,
        connections_max: args.max_connections,
    }
}

fn serve_alone(args: &ReferenceArgs, law: Law, stop: &AtomicBool) -> Result<u8> {
    let bound = Bound::new(args.listen, false).with_context(|| busy(args.listen))?;
    let tls = args.tls.then(|| reference_tls::config(args)).transpose()?;
    let listener = bound.listen()?;
    crate::output::say!("listening on {}", listener.local_addr()?);
    serve(&listener, law, tls, Place::ALONE, stop)?;
    Ok(exit::DONE)
}

/// How many processes are wanted, or needed for the connections wanted.
fn processes(args: &ReferenceArgs) -> Result<u32> {
    let most = args.max_connections.map_or(0, |most| most.0);
    let processes = args.processes.unwrap_or_else(|| processes_for(most, connections_per_process()));
    if !(1..=PROCESSES_MAX).contains(&processes) {
        bail!("{processes} processes are out of range; give from 1 to {PROCESSES_MAX}");
    }
    if processes > 1 && (args.mean != Nanos::ZERO || args.freeze.is_some()) {
        bail!(
            "{processes} processes would each have a queue and a freeze of their own, and not the one law that \
             --mean and --freeze describe; use one process (at most {} connections here), or neither option",
            connections_per_process()
        );
    }
    Ok(processes)
}

/// Most processes on one address.
const PROCESSES_MAX: u32 = 256;

/// Fewest processes that hold this many connections. The system deals connections out at random, so each gets its
/// share give or take; six standard deviations of a Poisson count are left free.
fn processes_for(connections: u64, per_process: u32) -> u32 {
    let fits = |processes: &u32| {
        let share = connections as f64 / f64::from(*processes);
        *processes == 1 && connections <= per_process.into()
            || share + 6.0 * share.sqrt() <= per_process.into()
    };
    (1..=PROCESSES_MAX).find(fits).unwrap_or(PROCESSES_MAX + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser as _;
    use schema::experiment::ServiceLaw;
    use units::{Bytes, Count};

    #[test]
    fn every_field_of_a_law_is_an_option_of_its_name() {
        let whole = Reference {
            law: Some(ServiceLaw::Lognormal),
            mean: Some(Nanos(1_234_567)),
            burn: Some(Nanos::ZERO),
            servers: Some(7),
            seed: Some(8),
            error_rate: Some(0.25),
            reset_rate: Some(1e-7),
            freeze: Some("5s+1s".to_owned()),
            leak_memory: Some(Bytes(1000)),
            leak_descriptors: Some(Count(1001)),
            cache: Some(Bytes(1 << 20)),
            connections_max: Some(Count(50_001)),
        };
        // The two exclude each other; what is not given has its default.
        let timed = Reference { burn: None, ..whole.clone() };
        let burning = Reference { burn: Some(Nanos(99)), mean: None, ..whole.clone() };
        for (given, is_public) in [(timed, false), (burning, true)] {
            let arguments = runner::reference::arguments(&given, is_public);
            let filled = arguments.iter().map(|one| one.replace("{host}:{port}", "127.0.0.1:0"));
            let all = ["prony".to_owned()].into_iter().chain(filled);
            let Command::Reference(args) = Args::try_parse_from(all).unwrap().command else { panic!() };
            let mean = given.mean.or(Some(Nanos::ZERO));
            let burn = given.burn.or(Some(Nanos::ZERO));
            assert_eq!(law(&args), Reference { mean, burn, ..whole.clone() });
            assert_eq!(args.public, is_public);
        }
    }

    #[test]
    fn as_many_processes_as_the_connections_need() {
        for (connections, processes) in [
            (0, 1),
            (1, 1),
            (10_000, 1),
            (19_744, 1),
            (19_745, 2),
            (37_000, 2),
            (39_000, 3),
            (50_000, 3),
            (200_000, 11),
        ] {
            assert_eq!(processes_for(connections, 19_744), processes, "{connections}");
        }
        assert_eq!(processes_for(u64::MAX, 1), PROCESSES_MAX + 1);
    }
}
