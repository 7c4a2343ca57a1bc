//! Experiments that were started from the lab: children of the server, each with a log.
//!
//! Invariants: what is executed is prony's own binary with `run FILE --runs DIR`, FILE being one that the server
//! listed; a child has a process group of its own and goes on when the server ends, for its run folder is its own; it
//! has the priority and the CPUs that the server had at its begin, for it is started by a thread that was left as it
//! was. Absent on purpose: arguments from a request, and a queue of experiments.

use crate::ServeError;
use rustix::process::Pid;
use schema::lab::StartCard;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// Folder of the logs within the folder of runs.
const LOGS: &str = ".prony-starts";
/// Most starts that are remembered; the oldest ended ones go.
const STARTS_MAX: usize = 100;
const TAIL_LINES: usize = 12;
const TAIL_BYTES: u64 = 8 * 1024;
const TAIL_LINE_CHARS: usize = 400;

/// Who starts, and what was started.
pub(crate) struct Starts {
    orders: mpsc::Sender<Order>,
    /// The thread that starts.
    thread: Option<Pid>,
    launcher: PathBuf,
    runs: PathBuf,
    started: Arc<Mutex<Vec<Started>>>,
}

struct Order {
    command: Command,
    answer: mpsc::Sender<io::Result<Child>>,
}

struct Started {
    card: StartCard,
    log: PathBuf,
}

impl Starts {
    /// Begins the thread that starts experiments. To be called before anything of this process is changed.
    pub(crate) fn begin(launcher: &Path, runs: &Path) -> Result<Self, ServeError> {
        let (orders, received) = mpsc::channel::<Order>();
        let (tell, told) = mpsc::channel();
        let work = move || {
            let _ = tell.send(rustix::thread::gettid());
            for mut order in received {
                let _ = order.answer.send(order.command.spawn());
            }
        };
        let begun = thread::Builder::new().name("starts".to_owned()).spawn(work);
        begun.map_err(|source| ServeError::System { what: "begin a thread", source })?;
        Ok(Self {
            orders,
            thread: told.recv().ok(),
            launcher: launcher.to_owned(),
            runs: runs.to_owned(),
            started: Arc::default(),
        })
    }

    /// The thread that must stay as it is.
    pub(crate) const fn thread(&self) -> Option<Pid> {
        self.thread
    }

    /// Starts an experiment file; gives its card.
    pub(crate) fn start(&self, file: &Path, name: &str) -> io::Result<StartCard> {
        let logs = self.runs.join(LOGS);
        fs::create_dir_all(&logs)?;
        let now = jiff::Timestamp::now();
        let (id, log, output) = new_log(&logs, &now.strftime("%Y%m%dT%H%M%SZ").to_string())?;
        let mut command = Command::new(&self.launcher);
        command.arg("run").arg(file).arg("--runs").arg(&self.runs);
        command.env(record::live::LAUNCHED_BY, launched_by(&id));
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).process_group(0);
        let (answer, answered) = mpsc::channel();
        let gone = |_| io::Error::other("the thread that starts experiments is gone");
        self.orders.send(Order { command, answer }).map_err(|_| gone(mpsc::RecvError))?;
        let child = answered.recv().map_err(gone)??;
        let card = StartCard {
            id: id.clone(),
            file: name.to_owned(),
            started_wall: now.to_string(),
            run: None,
            is_running: true,
            exit_code: None,
            log_tail: Vec::new(),
        };
        self.remember(Started { card: card.clone(), log });
        self.wait_for(child, id)?;
        Ok(card)
    }

    fn remember(&self, new: Started) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert(0, new);
        if started.len() > STARTS_MAX
            && let Some(oldest) = started.iter().rposition(|old| !old.card.is_running)
        {
            started.remove(oldest);
        }
    }

    /// Notes how a child ended.
    fn wait_for(&self, mut child: Child, id: String) -> io::Result<()> {
        let started = self.started.clone();
        let wait = move || {
            let code = child.wait().ok().map(code_of);
            let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(ended) = started.iter_mut().find(|known| known.card.id == id) {
                ended.card.is_running = false;
                ended.card.exit_code = code;
            }
        };
        thread::Builder::new().name("waits".to_owned()).stack_size(128 * 1024).spawn(wait).map(|_| ())
    }

    /// What was started, newest first, with the run folder as far as `run_of` knows it by who began it.
    pub(crate) fn cards(&self, run_of: impl Fn(&str) -> Option<String>) -> Vec<StartCard> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        for start in started.iter_mut() {
            if start.card.run.is_none() {
                start.card.run = run_of(&launched_by(&start.card.id));
            }
            start.card.log_tail = last_lines(&start.log).unwrap_or_default();
        }
        started.iter().map(|start| start.card.clone()).collect()
    }

    /// Whether a child is still there that has no run folder yet, so that another must wait.
    pub(crate) fn running(&self) -> Option<String> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.iter().find(|start| start.card.is_running).map(|start| start.card.file.clone())
    }

    /// The log of a start.
    pub(crate) fn log(&self, id: &str) -> Option<PathBuf> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.iter().find(|start| start.card.id == id).map(|start| start.log.clone())
    }
}

fn launched_by(id: &str) -> String {
    format!("lab:{id}")
}

/// A log that was not there before, with the name that the start gets.
fn new_log(logs: &Path, stamp: &str) -> io::Result<(String, PathBuf, File)> {
    for number in 1..1000 {
        let id = format!("{stamp}-{number}");
        let path = logs.join(format!("{id}.log"));
        match File::create_new(&path) {
            Ok(file) => return Ok((id, path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many starts within a second"))
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn last_lines(log: &Path) -> io::Result<Vec<String>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut text = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let short = |line: &str| line.chars().take(TAIL_LINE_CHARS).collect::<String>();
    let lines: Vec<String> = text.lines().map(short).collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec())
}
