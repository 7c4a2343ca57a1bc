//! How long the analysis of a large run takes: writes a run folder of made-up trials, and reads and analyses one.
//!
//! `big-run make FOLDER [--trials N] [--seconds N]` writes a folder as `prony run` leaves it, a function of its
//! arguments alone. `big-run measure FOLDER` does what `prony report` does before it writes, once, and prints the time
//! of each part and the peak of resident memory. Nothing here is measured of any server.

mod folder;

use clap::{Parser, Subcommand};
use record::RunFolder;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a run folder
    Make {
        /// Does not exist yet
        folder: PathBuf,
        /// How many trials, in blocks of two cells
        #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        trials: u32,
        /// Length of the samples of each
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
        seconds: u32,
    },
    /// Read and analyse a run folder
    Measure {
        /// Made by `make` or by `prony run`
        folder: PathBuf,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Args::parse().command {
        Command::Make { folder, trials, seconds } => folder::make(&folder, trials, seconds),
        Command::Measure { folder } => measure(&folder),
    }
}

fn measure(path: &Path) -> Result<(), Box<dyn Error>> {
    let folder = RunFolder::open(path)?;
    let begin = Instant::now();
    let run = folder.read_run()?;
    let trials = folder.read_trials(&run)?;
    let read = begin.elapsed();
    let analysis = analyze::analyze(&run, &trials);
    let all = begin.elapsed();
    println!("trials      {}", trials.len());
    println!("read        {:.3} s", read.as_secs_f64());
    println!("analyze     {:.3} s", (all - read).as_secs_f64());
    println!("both        {:.3} s", all.as_secs_f64());
    println!("peak memory {}", peak_memory()?);
    println!("answer      {}", analysis.answer);
    Ok(())
}

/// `VmHWM` of this process, as the kernel writes it.
fn peak_memory() -> Result<String, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("/proc/self/status has no VmHWM")?.trim().to_owned())
}
