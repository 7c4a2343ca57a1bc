//! What thousands of agents cost a controller: simulated agents in this process, and a real `prony load` that merges what
//! they send.
//!
//! ```text
//! prony load --fleet FILE ◀═ one Unix stream an agent ═▶ one thread an agent, and one that sends for all
//! ```
//!
//! `fleet-agents record FILE` keeps one parcel of a real load; `fleet-agents measure --agents N` plays it N times an
//! interval and prints what the controller took: CPU time, peak memory, bytes. Nothing is sent to a target.
//! `fleet-agents cost URL` loads a target with real agents and without, in turns, and prints what a request costs both.
//! Invariants: simulated agents speak the words of real ones, and the controller cannot know the difference: it checks
//! digest, order, sums and manifest of every parcel. All agents end an interval at the same moment, which is the worst.
//! The CPU time is the kernel's of the controller's process alone.
//! Absent on purpose: other hosts, TLS.

mod agent;
mod body;
mod cost;

use agent::{Begun, Counted, Play};
use clap::{Parser, Subcommand};
use cost::Cost;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Keep a parcel of a real load by one agent
    Record {
        /// Does not exist yet
        file: PathBuf,
        /// The program
        #[arg(long)]
        prony: PathBuf,
        /// What is loaded; it must be there
        #[arg(long)]
        url: String,
        /// Options of `prony load`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Let a controller merge it
    Measure {
        /// Made by `record`
        file: PathBuf,
        /// The program
        #[arg(long)]
        prony: PathBuf,
        /// How many agents
        #[arg(long)]
        agents: u32,
        /// How many parcels each sends
        #[arg(long, default_value_t = 20)]
        parcels: u64,
        /// Seconds between two parcels of an agent
        #[arg(long, default_value_t = 1)]
        every: u64,
    },
    /// Load a target with a fleet and without, in turns: CPU time of a request
    Cost {
        /// What is loaded; it must be there
        url: String,
        /// The program
        #[arg(long)]
        prony: PathBuf,
        /// How many agents on this host, or a fleet file
        #[arg(long, default_value = "1")]
        fleet: String,
        /// How often both
        #[arg(long, default_value_t = 20)]
        blocks: u32,
        /// Seconds of the longer load of two
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(4..))]
        seconds: u64,
        /// Options of `prony load`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Args::parse().task {
        Task::Record { file, prony, url, options } => record(&file, &prony, &url, &options),
        Task::Measure { file, prony, agents, parcels, every } => {
            let interval = Duration::from_secs(every);
            measure(&prony, agents, Play { bodies: body::replay(&file, parcels, agents)?, interval })
        }
        Task::Cost { url, prony, fleet, blocks, seconds, options } => {
            Cost { prony, url, fleet, blocks, long_s: seconds, options }.measure()
        }
    }
}

/// The agent's words go through a `tee`, and the parcel in the middle is kept.
fn record(file: &Path, prony: &Path, url: &str, options: &[String]) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let said = folder.path().join("said");
    let fleet = folder.path().join("fleet.toml");
    let command = format!("{:?} agent --stdio --here | tee {:?}", prony.display().to_string(), said);
    fs::write(
        &fleet,
        format!("[[agent]]\ncommand = [\"sh\", \"-c\", {}]\n", serde_json::to_string(&command)?),
    )?;
    let status = Command::new(prony)
        .args(["load", url, "--fleet"])
        .arg(&fleet)
        .args(options)
        .stdout(Stdio::null())
        .status()?;
    let text = fs::read_to_string(&said)?;
    let parcels: Vec<&str> = text.lines().filter(|line| line.starts_with("{\"Parcel\"")).collect();
    let middle = parcels.get(parcels.len() / 2).ok_or("no parcel came")?;
    fs::write(file, format!("{middle}\n"))?;
    println!("{} parcels ({status}); the line in the middle has {} bytes", parcels.len(), middle.len() + 1);
    Ok(())
}

fn measure(prony: &Path, agents: u32, play: Play) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (socket, fleet) = (folder.path().join("agents"), folder.path().join("fleet.toml"));
    let listener = UnixListener::bind(&socket)?;
    let mut text = String::new();
    for number in 1..=agents {
        write!(text, "[[agent]]\nname = \"a{number}\"\nunix = {}\n", serde_json::to_string(&socket)?)?;
    }
    fs::write(&fleet, text)?;
    let (counted, begun) = (Arc::new(Counted::default()), Arc::new(Begun::default()));
    let (seconds, interval) = (play.bodies.len(), play.interval.as_secs());
    let connections = agents.max(64).to_string();
    let mut child = Command::new(prony)
        // Nobody listens there, and nobody connects: the agents are simulated.
        .args([
            "load",
            "http://127.0.0.1:9/",
            "--warmup",
            "0s",
            "-c",
            &connections,
            "-d",
            &format!("{seconds}s"),
        ])
        .args(["--format", "json", "--fleet"])
        .arg(&fleet)
        .stdout(fs::File::create(folder.path().join("result.json"))?)
        .spawn()?;
    let serve = (counted.clone(), begun.clone());
    std::thread::spawn(move || agent::serve(&listener, &serve.0, &serve.1));
    let send = counted.clone();
    std::thread::spawn(move || {
        if let Err(error) = begun.send_all(agents as usize, &send, &play) {
            eprintln!("a parcel could not be sent: {error}");
        }
    });
    let watched = watch(&mut child, &counted)?;
    let result: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("result.json"))?).unwrap_or_default();
    let (parcels, bytes) =
        (counted.parcels.load(Ordering::Relaxed), counted.parcel_bytes.load(Ordering::Relaxed));
    let load = watched.load.as_secs_f64();
    println!("agents              {agents}, a parcel every {interval} s each");
    println!("exit                {}", watched.status);
    println!("requests            {} completed by the result", result["requests"]["completed"]);
    println!("parcels             {parcels}, {} bytes a line", bytes / parcels.max(1));
    println!("until the begin     {:.1} s, {:.2} s of CPU", watched.before.as_secs_f64(), watched.cpu_before);
    println!("load                {load:.1} s, {:.2} s of CPU: {:.2} cores", watched.cpu, watched.cpu / load);
    println!("CPU of a parcel     {:.0} µs", watched.cpu * 1e6 / parcels.max(1) as f64);
    println!("bytes               {:.1} MB, {:.2} MB/s", bytes as f64 / 1e6, bytes as f64 / 1e6 / load);
    println!("peak memory         {:.0} MiB", watched.peak_kib as f64 / 1024.0);
    println!("threads             {} at most", watched.threads);
    Ok(())
}

/// What the controller took.
struct Watched {
    status: std::process::ExitStatus,
    /// Until the last agent knows when to begin.
    before: Duration,
    cpu_before: f64,
    /// From there to its end.
    load: Duration,
    cpu: f64,
    peak_kib: u64,
    threads: u64,
}

/// Looks at the controller's process until it ends.
fn watch(child: &mut Child, counted: &Counted) -> Result<Watched, Box<dyn Error>> {
    let begin = Instant::now();
    let id = child.id();
    let (mut begun, mut last) = (None, Seen::default());
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // Its last look is up to one of these before its end.
        last = Seen::of(id).map_or(last, |seen| Seen { threads: seen.threads.max(last.threads), ..seen });
        if begun.is_none() && counted.origin_ns.load(Ordering::Relaxed) != 0 {
            begun = Some((begin.elapsed(), last.cpu));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let (before, cpu_before) = begun.unwrap_or_default();
    let (load, cpu) = (begin.elapsed() - before, last.cpu - cpu_before);
    Ok(Watched { status, before, cpu_before, load, cpu, peak_kib: last.peak_kib, threads: last.threads })
}

/// What the kernel says of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cpu: f64,
    peak_kib: u64,
    threads: u64,
}

impl Seen {
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name may have anything in it; what follows it has 11 fields before user and system time.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let cpu = ticks / rustix::param::clock_ticks_per_second() as f64;
        Some(Self { cpu, peak_kib: number("VmHWM:")?, threads: number("Threads:")? })
    }
}
