//! All states of one load: the main one, in which `setup` and `done` run, and one for each worker.

use crate::Job;
use crate::place::whole;
use crate::state::State;
use crate::stats::{Stats, Summary};
use crate::thread::{Handle, Worker};
use hdrhistogram::Histogram;
use mlua::{Function, Lua};
use request::script::{Script, ScriptError};

/// A script, loaded.
pub struct Wrk {
    main: State,
    workers: Vec<Worker>,
    /// The workers' states: `done` reads them through the handles that `setup` kept.
    _kept: Vec<Lua>,
}

impl Wrk {
    /// Runs the script's file in the main state and in one state per thread, finds the addresses of the URL that
    /// accept a connection, calls `setup` for each thread, then `init` in it, and asks for a first request.
    ///
    /// # Errors
    /// Anything that the script throws or takes too long for, with its line; a host that does not resolve or
    /// accepts no connection; a request that is none.
    pub fn load(job: &Job<'_>) -> Result<Self, ScriptError> {
        let main = State::open(job)?;
        resolve(job, &main)?;
        let mut workers = Vec::with_capacity(job.threads);
        for number in 0..job.threads.max(1) {
            workers.push(worker(job, &main, number == 0)?);
        }
        let kept = workers.iter().map(Worker::lua).collect();
        Ok(Self { main, workers, _kept: kept })
    }

    /// The workers' scripts, in the order of the threads; none the second time.
    pub fn take_threads(&mut self) -> Vec<Box<dyn Script>> {
        self.workers.drain(..).map(|worker| Box::new(worker) as Box<dyn Script>).collect()
    }

    /// Calls `done` where the script has it. The workers have ended, so that what `setup` kept of them can be read.
    /// `latency` is in nanoseconds, `rates` are answers per second of each thread.
    ///
    /// # Errors
    /// What the script throws or takes too long for.
    pub fn done(
        &mut self,
        summary: &Summary,
        latency: &Histogram<u64>,
        rates: &Histogram<u64>,
    ) -> Result<(), ScriptError> {
        if !self.main.has("done")? {
            // Threads may have printed too.
            return self.main.flush();
        }
        self.main.bounded("done()", |lua| {
            let done: Function = lua.globals().get("done")?;
            done.call((summary.table(lua)?, Stats::micros(latency), Stats::plain(rates)))
        })
    }
}

/// Has the main state find out where to connect to.
fn resolve(job: &Job<'_>, main: &State) -> Result<(), ScriptError> {
    let service = job.url.port.map_or_else(|| job.url.scheme.clone(), |port| port.to_string());
    main.call_wrk("resolve", (job.url.host.as_str(), service.as_str()))?;
    if main.addresses()? == 0 {
        let host = &job.url.host;
        return Err(whole(
            job.file,
            format!("unable to connect to {host}:{service}; is the target running?"),
        ));
    }
    Ok(())
}

/// One thread: its state, then `setup` in the main state, then `init` in its own.
fn worker(job: &Job<'_>, main: &State, is_first: bool) -> Result<Worker, ScriptError> {
    let state = State::open(job)?;
    let handle = Handle::new(&state.lua);
    state.set_wrk("thread", handle.clone())?;
    main.call_wrk("setup", handle.clone())?;
    state.init(&job.url.text, job.args)?;
    Worker::new(state, &handle, is_first)
}
