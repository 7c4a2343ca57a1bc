//! What a request costs a fleet against one process: CPU time of the same load with and without `--fleet`, in turns.
//!
//! Each way makes a short load and a long one. What the long one took more, divided by the requests that it made more, is
//! the CPU time of a request: starts, connects and the end cost both the same and drop out.
//! Invariants: CPU time is the kernel's of the process and of its children, so of controller and agents together, and not
//! of the target, which somebody else started. The order within a block changes from block to block.
//! Absent on purpose: response times. Agents on one host share its CPUs, so their times say nothing of a fleet.

use analyze::stats::student::MeanTest;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Seconds of the short load.
const SHORT_S: u64 = 2;

/// What is compared.
pub(crate) struct Cost {
    pub(crate) prony: PathBuf,
    pub(crate) url: String,
    pub(crate) fleet: String,
    pub(crate) blocks: u32,
    pub(crate) long_s: u64,
    pub(crate) options: Vec<String>,
}

/// What one load took.
#[derive(Clone, Copy, Debug)]
struct Took {
    requests: f64,
    /// All threads of all its processes.
    cpu_us: f64,
    /// The threads that make load, by their own count within the window.
    workers_us: f64,
}

/// CPU time of a request, in microseconds.
#[derive(Clone, Copy, Debug)]
struct PerRequest {
    all_us: f64,
    workers_us: f64,
}

impl Cost {
    /// Prints a line a block, and the two ratios with their 95 % intervals.
    pub(crate) fn measure(&self) -> Result<(), Box<dyn Error>> {
        println!("block,one_us,fleet_us,one_workers_us,fleet_workers_us");
        let mut logs: [Vec<f64>; 2] = Default::default();
        for block in 1..=self.blocks {
            let [one, fleet] = self.block(block)?;
            println!(
                "{block},{:.3},{:.3},{:.3},{:.3}",
                one.all_us, fleet.all_us, one.workers_us, fleet.workers_us
            );
            logs[0].push((fleet.all_us / one.all_us).ln());
            logs[1].push((fleet.workers_us / one.workers_us).ln());
        }
        for (what, logs) in ["all its processes", "threads that make load"].iter().zip(&logs) {
            let test = MeanTest::of_logs(logs).map_err(|refusal| format!("{what}: {refusal:?}"))?;
            let (low, high) = test.interval(0.95);
            println!(
                "{what}: CPU per request with a fleet / without {:.3} ({:.3} to {:.3}), {} blocks",
                test.mean.exp(),
                low.exp(),
                high.exp(),
                test.n
            );
        }
        Ok(())
    }

    /// One process and the fleet; the first of them changes.
    fn block(&self, block: u32) -> Result<[PerRequest; 2], Box<dyn Error>> {
        if block.is_multiple_of(2) {
            let fleet = self.per_request(true)?;
            return Ok([self.per_request(false)?, fleet]);
        }
        Ok([self.per_request(false)?, self.per_request(true)?])
    }

    fn per_request(&self, by_fleet: bool) -> Result<PerRequest, Box<dyn Error>> {
        let (short, long) = (self.load(SHORT_S, by_fleet)?, self.load(self.long_s, by_fleet)?);
        Ok(PerRequest {
            all_us: (long.cpu_us - short.cpu_us) / (long.requests - short.requests),
            workers_us: long.workers_us / long.requests,
        })
    }

    fn load(&self, seconds: u64, by_fleet: bool) -> Result<Took, Box<dyn Error>> {
        let mut command = Command::new(&self.prony);
        command.args(["load", &self.url, "--format", "json", "--warmup", "0s", "-d", &format!("{seconds}s")]);
        command.args(&self.options);
        if by_fleet {
            command.args(["--fleet", &self.fleet]);
        }
        let before = children_us()?;
        let done = command.stderr(Stdio::null()).output()?;
        let cpu_us = children_us()? - before;
        let result: serde_json::Value = serde_json::from_slice(&done.stdout)
            .map_err(|_| format!("a load ended with {} and no result: run it by hand", done.status))?;
        // A load that was late has no times to be used; its CPU time is what it is.
        if result["requests"]["completed"] == 0 || result["requests"]["failed"] != 0 {
            return Err(format!("a load that fails says nothing: {}", result["requests"]).into());
        }
        let number = |value: &serde_json::Value| value.as_f64().ok_or("the result lacks a number");
        Ok(Took {
            requests: number(&result["requests"]["completed"])?,
            cpu_us,
            workers_us: number(&result["generator"]["cpu_s"])? * 1e6,
        })
    }
}

/// CPU time of all children that were waited for, and of theirs.
fn children_us() -> Result<f64, nix::Error> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64)
}
