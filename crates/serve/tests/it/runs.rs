//! A folder of runs made of a stored one, and a lab over it.
//!
//! `tests/run` is a real run of `experiments/demo.toml` with two of its trials and some of its counters.

use serde_json::Value;
use serve::{Options, Server};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A folder that is gone with its handle.
pub(crate) struct Runs {
    pub(crate) folder: TempDir,
}

impl Runs {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder can be made") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, id: &str) -> PathBuf {
        self.path().join(id)
    }

    /// A copy of the stored run under another name, with changes to its `run.json`.
    pub(crate) fn add(&self, id: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
        let path = self.run(id);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run"), &path);
        let file = path.join("run.json");
        let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        run["id"] = id.into();
        change(&mut run);
        fs::write(&file, serde_json::to_vec(&run).unwrap()).unwrap();
        path
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A lab that serves until its handle is dropped.
pub(crate) struct Lab {
    pub(crate) addr: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What most tests open a lab with.
pub(crate) fn options(runs: &Path) -> Options {
    Options {
        runs: runs.to_owned(),
        experiments: None,
        listen: "127.0.0.1:0".parse().unwrap(),
        token: None,
        names: Vec::new(),
        launcher: PathBuf::from("/bin/false"),
        assets: &[("assets/lab-1.js", b"let a = 1;"), ("index.html", b"<!doctype html><title>lab</title>")],
        is_quiet: false,
        only_metrics: false,
    }
}

impl Lab {
    pub(crate) fn open(options: Options) -> Self {
        let (end, ended) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        // Bound in its own thread, which alone becomes quiet where that is asked for.
        let thread = std::thread::spawn(move || {
            let server = Server::bind(options).expect("the lab opens");
            tell.send(server.addr()).expect("the test waits");
            server.run_until(async {
                let _ = ended.await;
            });
        });
        Self { addr: told.recv().expect("the lab opens"), end: Some(end), thread: Some(thread) }
    }

    pub(crate) fn over(runs: &Runs) -> Self {
        Self::open(options(runs.path()))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the lab broke");
        }
    }
}
