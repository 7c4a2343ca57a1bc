//! `prony alarms`: the process that watches the alarms of one load or run.

use super::WATCHER;
use super::news::{News, Orders};
use super::own::Own;
use super::sender::Sender;
use analyze::{AlarmBoard, AlarmChange};
use export::{Begun, Event, Follow};
use rustix::process::Signal;
use schema::alarm::{AlarmLine, AlarmPlan, AlarmState};
use schema::version::AlarmVersion;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Between two looks at the files.
const LOOK: Duration = Duration::from_millis(250);
/// What fires is sent again after this, to those who forget it.
const AGAIN: Duration = Duration::from_secs(60);

/// Serves the hidden subcommand; `None` where the arguments (program name first) ask for something else.
pub(crate) fn dispatch(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let asked = args.into_iter().nth(1)?;
    (asked == WATCHER).then(run)
}

fn run() -> ExitCode {
    // Its orders end with prony however it dies; this is for a process that is too busy to notice.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let mut orders = String::new();
    let read = std::io::stdin().lock().read_line(&mut orders);
    match (read, serde_json::from_str::<Orders>(&orders)) {
        (Ok(_), Ok(orders)) => {
            Watcher::new(orders).watch(&end_of_orders());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("prony alarms: no orders; it is used by prony itself");
            ExitCode::FAILURE
        }
    }
}

/// Disconnects when prony closes its end.
fn end_of_orders() -> Receiver<()> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        drop(to);
    });
    from
}

struct Watcher {
    alarms: Vec<AlarmPlan>,
    follow: Follow,
    own: Option<Own>,
    sender: Sender,
    /// CPUs of this host, for targets that are not confined.
    cpus: f64,
    quiet: Option<serve::Quiet>,
    trial: Option<Trial>,
    /// What fires.
    firing: Vec<AlarmLine>,
    sent_again: Instant,
    /// Places of alarms that were read in some trial, and whether there was one.
    read: BTreeSet<usize>,
    is_begun: bool,
}

/// The trial in progress.
struct Trial {
    folder: PathBuf,
    run: String,
    id: u32,
    cell: String,
    board: AlarmBoard,
    /// Places of the board's alarms among all.
    places: Vec<usize>,
}

impl Watcher {
    fn new(orders: Orders) -> Self {
        let usable = launch::pin::usable_cpus().map_or(1, |cpus| cpus.len());
        let of_target = orders.target.and_then(launch::pin::cpus_of).map(|cpus| cpus.len());
        Self {
            follow: Follow::new(&orders.runs, orders.writer),
            own: orders.target.map(|target| Own::begin(target, orders.writer)),
            sender: Sender::begin(orders.receivers),
            cpus: of_target.unwrap_or(usable) as f64,
            alarms: orders.alarms,
            quiet: serve::Quiet::begin(None),
            trial: None,
            firing: Vec::new(),
            sent_again: Instant::now(),
            read: BTreeSet::new(),
            is_begun: false,
        }
    }

    fn watch(mut self, over: &Receiver<()>) {
        loop {
            let is_last = !matches!(over.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout));
            for event in self.follow.look(is_last) {
                self.event(event);
            }
            let own = self.own.as_mut().map(Own::look).unwrap_or_default();
            for line in own {
                self.on_board(|board| board.counters(&line));
            }
            if is_last {
                self.finish();
                return;
            }
            if self.sent_again.elapsed() >= AGAIN {
                self.sent_again = Instant::now();
                self.sender.still(self.firing.clone());
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Begins(begun) => self.begin(*begun),
            Event::Interval(line, times_ns) => self.on_board(|board| board.interval(&line, &times_ns)),
            Event::Counters(line) => self.on_board(|board| board.counters(&line)),
            Event::Ends => {
                self.on_board(AlarmBoard::end);
                if let Some(trial) = self.trial.take() {
                    let unread: BTreeSet<usize> = trial.board.unread().map(|at| trial.places[at]).collect();
                    self.read.extend(trial.places.iter().filter(|place| !unread.contains(place)));
                }
            }
        }
    }

    fn begin(&mut self, begun: Begun) {
        let plan = begun.run.as_ref().map(|run| &run.plan);
        if let (Some(quiet), Some(plan)) = (&self.quiet, plan) {
            quiet.keep_off(std::iter::once(&plan.pin));
        }
        let cell = plan.and_then(|plan| {
            let trial = plan.order.iter().find(|trial| trial.id == begun.id)?;
            plan.cells.iter().find(|cell| cell.id == trial.cell)
        });
        let allowed = plan.zip(cell).and_then(|(plan, cell)| analyze::allowed_cpus(plan, cell));
        let is_meant = |alarm: &AlarmPlan| match (&alarm.target, cell) {
            (Some(target), Some(cell)) => *target == cell.target,
            _ => true,
        };
        let places: Vec<usize> =
            (0..self.alarms.len()).filter(|place| is_meant(&self.alarms[*place])).collect();
        let plans: Vec<AlarmPlan> = places.iter().map(|place| self.alarms[*place].clone()).collect();
        let name = begun.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        self.is_begun = true;
        self.trial = Some(Trial {
            run: name.unwrap_or_default(),
            folder: begun.folder,
            id: begun.id,
            cell: cell.map_or_else(|| "load".to_owned(), |cell| cell.label.clone()),
            board: AlarmBoard::new(&plans, allowed.unwrap_or(self.cpus)),
            places,
        });
    }

    /// Lets the board of the trial in progress see something, and sends what changed.
    fn on_board(&mut self, see: impl FnOnce(&mut AlarmBoard) -> Vec<AlarmChange>) {
        let Some(trial) = &mut self.trial else { return };
        for change in see(&mut trial.board) {
            let line = line(trial, &self.alarms[trial.places[change.place]], &change);
            self.firing.retain(|firing| firing.when != line.when);
            if change.fires {
                self.firing.push(line.clone());
            }
            // Prony first, which may have to end the load.
            News::Alarm { line: Box::new(line.clone()), folder: trial.folder.clone() }.send();
            self.sender.new_line(&line);
        }
    }

    /// Nothing will come any more.
    fn finish(self) {
        let unread = (0..self.alarms.len()).filter(|place| self.is_begun && !self.read.contains(place));
        for place in unread {
            News::Note(format!(
                "the alarm `{}` was never judged: nothing that it needs was read, or too little for its percentile",
                self.alarms[place].when
            ))
            .send();
        }
    }
}

fn line(trial: &Trial, plan: &AlarmPlan, change: &AlarmChange) -> AlarmLine {
    let now = jiff::Timestamp::now();
    let held = Duration::from_nanos(change.at_ns.saturating_sub(change.since_ns));
    AlarmLine {
        schema: AlarmVersion::default(),
        run: trial.run.clone(),
        trial: trial.id,
        cell: trial.cell.clone(),
        alarm: plan.text.clone(),
        when: plan.when.clone(),
        state: if change.fires { AlarmState::Fires } else { AlarmState::Ends },
        at_wall: now.to_string(),
        since_wall: now.checked_sub(held).unwrap_or(now).to_string(),
        value: change.value,
        unit: change.unit,
        bound: plan.bound,
        evidence: change.evidence.clone(),
        abort: plan.abort,
    }
}
