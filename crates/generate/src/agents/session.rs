//! An agent's end of one load: takes the plan and its files, drives what makes its part, and keeps every result until the
//! controller has it.
//!
//! Invariants: once the lease is over, or the only link is gone, the maker is dropped, which ends its processes; nothing
//! is sent before that is looked at; it waits for nobody who does not read. A link that was cut after the begin may be made
//! again within the lease: what was not taken is sent again. Absent on purpose: threads of links and who may begin a session (`relay`).

use super::cpu::CpuTime;
use super::maker::{Make, Maker};
use super::parcel::{Stamps, wrap};
use super::portable::localise;
use super::protocol::{Order, Report, sums, to_bytes};
use crate::GenerateError;
use crate::lines::write_line;
use engine::{EngineError, IntervalData, Part, Step, machine_ns};
use fleet::{Allow, Arriving, FileRef, Lease, Outbox, Store, digest};
use plan::LoadJob;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often orders are looked at while the load runs.
const ORDER_POLL: Duration = Duration::from_millis(10);
/// How often the lease is looked at while orders are waited for.
const LEASE_POLL: Duration = Duration::from_millis(50);
/// Most files of a load.
const FILES_MAX: usize = 256;

/// The writing end of a link, which its reading thread uses, too.
pub(super) type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// Says something on a link, and waits until it is written. A link that is cut shows where it is read.
pub(super) fn say(writer: &Writer, report: &Report) {
    let _ = put(writer, &line(report));
}

fn line(report: &Report) -> Vec<u8> {
    let mut line = Vec::new();
    write_line(&mut line, report).expect("reports are JSON, and memory takes them");
    line
}

fn put(writer: &Writer, line: &[u8]) -> io::Result<()> {
    let mut to = writer.lock().unwrap_or_else(PoisonError::into_inner);
    let written = to.write_all(line).and_then(|()| to.flush());
    if written.is_err() {
        // Half a line may be out: whatever followed would be read as the rest of it.
        *to = Box::new(io::sink());
    }
    written
}

/// What a session hears.
#[derive(Debug)]
pub(super) enum Event {
    /// A link, by its number.
    Linked(u64, Link),
    /// An order.
    Order(Order),
    /// A link ended.
    Cut(u64),
    /// Somebody wants the agent to end now.
    Stop,
}

/// A link as a session needs it: a thread of its own writes, so that a controller that does not read cannot keep the session
/// from looking at its lease. The outbox bounds what waits there.
#[derive(Clone, Debug)]
pub(super) struct Link(Sender<Vec<u8>>);

impl Link {
    /// Begins to write.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(super) fn begin(writer: Writer) -> io::Result<Self> {
        let (sender, lines) = channel::<Vec<u8>>();
        let write = move || lines.into_iter().try_for_each(|line| put(&writer, &line));
        std::thread::Builder::new().name("prony-link".to_owned()).spawn(write)?;
        Ok(Self(sender))
    }

    /// Says something, without waiting.
    fn say(&self, report: &Report) {
        // The thread is gone only where the link is cut.
        let _ = self.0.send(line(report));
    }
}

/// Why a session ends early.
enum End {
    /// Nobody wants it any more.
    Unwanted,
    /// It is reported to the controller.
    Reported(GenerateError),
    /// Likewise, in words.
    Refused(String),
}

impl From<GenerateError> for End {
    fn from(error: GenerateError) -> Self {
        Self::Reported(error)
    }
}

/// What a session is allowed, and where it keeps files.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) allow: Allow,
    /// Whether the controller is the same user on the same host, so that its CPUs and its spinning mean this host.
    pub(super) is_here: bool,
    /// Whether a link that was cut can be made again.
    pub(super) can_relink: bool,
}

/// One session.
pub(super) struct Session<'a> {
    rules: &'a Rules,
    store: &'a Path,
    events: Receiver<Event>,
    lease: Arc<Mutex<Lease>>,
    link: Option<(u64, Link)>,
    outbox: Outbox<String>,
    /// Said again on a new link.
    ready: Option<Report>,
    closing: Option<Report>,
    has_begun: bool,
    stamps: Stamps,
    cpu: Option<CpuTime>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        store: &'a Path,
        (session, agent): (&str, u32),
        events: Receiver<Event>,
        lease: Arc<Mutex<Lease>>,
    ) -> Self {
        Self {
            rules,
            store,
            events,
            lease,
            link: None,
            outbox: Outbox::new(session, agent),
            ready: None,
            closing: None,
            has_begun: false,
            stamps: Stamps::default(),
            cpu: None,
        }
    }

    /// From the plan to the last result. `make` sets a part of a load up.
    pub(super) fn run(mut self, make: &Make) {
        let (missed_start, cause) = match self.serve(make) {
            Ok(()) | Err(End::Unwanted) => return,
            Err(End::Refused(cause)) => return self.say(&Report::Refused(cause)),
            Err(End::Reported(error)) => {
                (matches!(&error, GenerateError::Engine(EngineError::MissedStart)), error.to_string())
            }
        };
        self.say(&Report::Failed { missed_start, cause });
    }

    fn serve(&mut self, make: &Make) -> Result<(), End> {
        let (job, part) = self.take_load()?;
        self.stamps = Stamps::of(part, job.load.workers);
        let link = self.link.clone();
        let mut maker = make(&job, part, &mut |opened| {
            if let Some((_, link)) = &link {
                link.say(&Report::Opening(opened));
            }
        })?;
        self.ready = Some(Report::Ready(maker.set_up().clone()));
        self.ready.iter().for_each(|ready| self.say(ready));
        self.make(&mut *maker)?;
        let manifest = self.outbox.close();
        let steal_share = CpuTime::read().zip(self.cpu).and_then(|(end, begin)| end.stolen_since(begin));
        let peak_rss_bytes = maker.peak_rss_bytes();
        drop(maker);
        self.closing = Some(Report::Closing { manifest, peak_rss_bytes, steal_share });
        self.closing.iter().for_each(|closing| self.say(closing));
        while !self.outbox.is_done() {
            if let Some(order) = self.next_order()? {
                self.take_word(&order);
            }
        }
        Ok(())
    }

    /// The load with its files.
    fn take_load(&mut self) -> Result<(LoadJob, Part), End> {
        let (job, part, files) = loop {
            match self.next_order()? {
                Some(Order::Load { job, part, files }) => break (job, part, files),
                Some(Order::Stop) => return Err(End::Unwanted),
                _ => {}
            }
        };
        let store = Store::new(self.store);
        self.take_files(&store, &files)?;
        let mut job = localise(*job, &files, &store, &self.rules.allow).map_err(End::Refused)?;
        if !self.rules.is_here {
            job.cpus = None;
            job.spin = launch::pin::usable_cpus().is_ok_and(|cpus| launch::pin::leaves_a_cpu(&cpus));
        }
        if part.workers == 0 || part.first.checked_add(part.workers).is_none_or(|end| end > job.load.workers)
        {
            return Err(End::Refused("its part is of workers that the load does not have".to_owned()));
        }
        Ok((job, part))
    }

    /// Asks for the files that are not there, and takes them.
    fn take_files(&mut self, store: &Store, files: &BTreeMap<String, FileRef>) -> Result<(), End> {
        let refused = |error: fleet::BundleError| End::Refused(error.to_string());
        if files.len() > FILES_MAX {
            return Err(End::Refused(format!("the load has more than {FILES_MAX} files")));
        }
        // Files with the same bytes come once, whatever their endings are.
        let mut missing: BTreeMap<String, Vec<&FileRef>> = BTreeMap::new();
        for file in files.values() {
            if !store.has(file).map_err(refused)? {
                missing.entry(file.sha256.clone()).or_default().push(file);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.say(&Report::Wants(missing.keys().cloned().collect()));
        let mut arriving: Option<(String, Arriving)> = None;
        while !missing.is_empty() {
            let Some(order) = self.next_order()? else { continue };
            let Order::File { sha256, bytes, is_last } = order else { continue };
            let bytes = to_bytes(&bytes).map_err(End::Refused)?;
            let (name, mut file) = match arriving.take() {
                Some(same) if same.0 == sha256 => same,
                _ => {
                    let file = missing
                        .get(&sha256)
                        .and_then(|files| files.first())
                        .ok_or_else(|| End::Refused("a file came that nobody asked for".to_owned()))?;
                    (sha256, store.begin(file).map_err(refused)?)
                }
            };
            file.take(&bytes).map_err(refused)?;
            if is_last {
                file.finish().map_err(refused)?;
                let files = missing.remove(&name).unwrap_or_default();
                files.iter().try_for_each(|other| store.also(files[0], other)).map_err(refused)?;
            } else {
                arriving = Some((name, file));
            }
        }
        Ok(())
    }

    /// The load itself.
    fn make(&mut self, maker: &mut dyn Maker) -> Result<(), End> {
        loop {
            if !self.has_begun {
                if let Some(order) = self.next_order()? {
                    self.obey(maker, order)?;
                }
                continue;
            }
            while let Some(order) = self.waiting_order()? {
                self.obey(maker, order)?;
            }
            match maker.next(ORDER_POLL)? {
                Step::Waiting => {}
                Step::Interval(data) => self.keep(data)?,
                Step::Ended => return Ok(()),
            }
        }
    }

    fn keep(&mut self, data: &IntervalData) -> Result<(), End> {
        let text = wrap(data, self.stamps);
        let put = self.outbox.put(digest(text.as_bytes()), sums(&data.counts), text);
        let parcel = put.map_err(|error| End::Refused(error.to_string()))?.clone();
        self.say(&Report::Parcel(Box::new(parcel)));
        Ok(())
    }

    fn obey(&mut self, maker: &mut dyn Maker, order: Order) -> Result<(), End> {
        match order {
            // Said again on a new link.
            Order::Begin { .. } if self.has_begun => {}
            Order::Begin { origin_ns, .. } if origin_ns <= machine_ns() => {
                return Err(End::Reported(EngineError::MissedStart.into()));
            }
            Order::Begin { origin_ns, origin_unix_ns, measure_from } => {
                self.has_begun = true;
                self.stamps.measure_from = measure_from;
                self.cpu = CpuTime::read();
                maker.begin_at(origin_ns, origin_unix_ns, measure_from);
            }
            Order::MeasureFrom(interval) => {
                self.stamps.measure_from = Some(interval);
                maker.measure_from(interval);
            }
            // Nothing was sent that anybody would count.
            Order::Stop if !self.has_begun => return Err(End::Unwanted),
            Order::Stop => maker.stop(),
            other => self.take_word(&other),
        }
        Ok(())
    }

    fn take_word(&mut self, order: &Order) {
        match order {
            Order::HeldBelow(interval) => self.outbox.taken_below(*interval),
            Order::Whole => self.outbox.taken_whole(),
            Order::StampsAreEnough => self.stamps.are_enough = true,
            _ => {}
        }
    }

    /// The next order, waited for a moment.
    fn next_order(&mut self) -> Result<Option<Order>, End> {
        self.look()?;
        match self.events.recv_timeout(LEASE_POLL) {
            Ok(event) => self.take_event(event),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(End::Unwanted),
        }
    }

    /// The next order that is there already.
    fn waiting_order(&mut self) -> Result<Option<Order>, End> {
        self.look()?;
        loop {
            match self.events.try_recv() {
                Ok(event) => {
                    if let Some(order) = self.take_event(event)? {
                        return Ok(Some(order));
                    }
                }
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(End::Unwanted),
            }
        }
    }

    /// The dead man's switch.
    fn look(&self) -> Result<(), End> {
        let lease = *self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        if lease.is_over(machine_ns()) { Err(End::Unwanted) } else { Ok(()) }
    }

    fn take_event(&mut self, event: Event) -> Result<Option<Order>, End> {
        match event {
            Event::Order(order) => return Ok(Some(order)),
            Event::Linked(number, link) => {
                self.link = Some((number, link));
                self.say_again();
            }
            Event::Cut(number) if self.link.as_ref().is_some_and(|(own, _)| *own == number) => {
                self.link = None;
                if !self.has_begun || !self.rules.can_relink {
                    return Err(End::Unwanted);
                }
            }
            Event::Cut(_) => {}
            Event::Stop if !self.has_begun => {
                return Err(End::Refused("it was stopped by `prony fleet stop`".to_owned()));
            }
            Event::Stop => {
                self.say(&Report::Stopped);
                return Ok(Some(Order::Stop));
            }
        }
        Ok(None)
    }

    /// All that a controller may have missed.
    fn say_again(&self) {
        self.ready.iter().for_each(|ready| self.say(ready));
        self.outbox.kept().for_each(|parcel| self.say(&Report::Parcel(Box::new(parcel.clone()))));
        self.closing.iter().for_each(|closing| self.say(closing));
    }

    fn say(&self, report: &Report) {
        if let Some((_, link)) = &self.link {
            link.say(report);
        }
    }
}
