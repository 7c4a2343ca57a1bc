//! `prony generator`: one generator process, which takes its orders on stdin and reports on stdout.
//!
//! Two threads besides the workers: this one drives the generator and reports, the other reads orders and ends the
//! process when they end.

use super::peak_rss_bytes;
use super::protocol::{Order, Report, Spec, VERSION};
use crate::GenerateError;
use crate::each::Each;
use crate::lines::write_line;
use crate::orders::{engine_job, timeline};
use crate::set_up::SetUp;
use engine::{EngineError, Generator, Parcel, Step};
use plan::processes::raise_descriptor_limit;
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, BufRead, StdinLock};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How often orders are looked at while the load runs.
const ORDER_POLL: Duration = Duration::from_millis(10);

/// Why a process cannot go on.
enum Failure {
    /// It is reported to prony.
    Told(GenerateError),
    /// Prony gave no orders that it understands, or does not listen.
    Unheard(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Unheard(error.to_string())
    }
}

impl<E: Into<GenerateError>> From<Told<E>> for Failure {
    fn from(Told(error): Told<E>) -> Self {
        Self::Told(error.into())
    }
}

/// Marks an error that is reported to prony.
struct Told<E>(E);

pub(super) fn run() -> ExitCode {
    // Its orders end with prony however it dies; this is for a process that is too busy to notice.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    drop_signals();
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Told(error)) => {
            let missed_start = matches!(&error, GenerateError::Engine(EngineError::MissedStart));
            let _ = write_line(&mut io::stdout(), &Report::Failed { missed_start, cause: error.to_string() });
            ExitCode::FAILURE
        }
        Err(Failure::Unheard(cause)) => {
            eprintln!("prony generator: {cause}; it is used by prony itself");
            ExitCode::FAILURE
        }
    }
}

/// A signal to all processes of a load, as a service manager sends it, means prony: it asks for the results, which a
/// generator that ended at once would take along. A failure leaves the signal as it was.
fn drop_signals() {
    let caught = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let _ = signal_hook::flag::register(signal, caught.clone());
    }
}

fn serve() -> Result<(), Failure> {
    raise_descriptor_limit();
    let spec = read_spec(&mut io::stdin().lock())?;
    let orders = follow_orders();
    let mut job = engine_job(&spec.job, None, timeline(&spec.job), spec.part).map_err(Told)?;
    let (mut each, rows) = Each::of_rings(&spec.job, spec.part).map_err(Told)?.unzip();
    job.rows = rows;
    let mut out = io::stdout().lock();
    // Prony that does not listen any more is noticed below.
    let mut opening = |opened| drop(write_line(&mut out, &Report::Opening { opened }));
    let mut generator = Generator::start_part(&job, &mut opening).map_err(Told)?;
    let (asked, established) = generator.connections();
    let failures = generator.setup_failures().clone();
    let set_up = SetUp { asked, established, failures, driver: generator.driver() };
    write_line(&mut out, &Report::Ready(set_up))?;
    // The reader ends the process rather than the channel.
    if let Ok(first) = orders.recv() {
        obey(&mut generator, &mut each, first);
    }
    loop {
        orders.try_iter().for_each(|order| obey(&mut generator, &mut each, order));
        match generator.next(ORDER_POLL).map_err(Told)? {
            Step::Waiting => {}
            Step::Interval(data) => {
                if let Some(each) = &mut each {
                    each.count(&data.counts);
                }
                write_line(&mut out, &Report::Interval(Box::new(Parcel::pack(data))))?;
            }
            Step::Ended => break,
        }
    }
    let rows_error = each.and_then(|each| each.finish().err()).map(|error| error.to_string());
    let peak_rss_bytes = peak_rss_bytes().unwrap_or_default();
    write_line(&mut out, &Report::Ended { peak_rss_bytes, rows_error })?;
    Ok(())
}

fn obey(generator: &mut Generator, each: &mut Option<Each>, order: Order) {
    match order {
        Order::Begin { origin_ns, origin_unix_ns, measure_from } => {
            generator.begin_at(origin_ns, measure_from);
            if let Some(each) = each {
                each.begin(origin_unix_ns);
            }
        }
        Order::MeasureFrom(interval) => generator.measure_from(interval),
        Order::Stop => generator.stop(),
    }
}

fn read_spec(stdin: &mut StdinLock<'_>) -> Result<Spec, Failure> {
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    let spec: Spec = serde_json::from_str(&line)
        .map_err(|error| Failure::Unheard(format!("the orders are not understood ({error})")))?;
    if spec.version != VERSION {
        let cause = format!("the orders have version {}, not {VERSION}", spec.version);
        return Err(Failure::Unheard(cause));
    }
    Ok(spec)
}

/// Reads orders on a thread of its own. Where they end, prony is gone, and nobody wants the rest of the load.
fn follow_orders() -> Receiver<Order> {
    let (sender, orders) = channel();
    std::thread::spawn(move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        for order in lines.map_while(|line| serde_json::from_str(&line).ok()) {
            if sender.send(order).is_err() {
                break;
            }
        }
        std::process::exit(1);
    });
    orders
}
