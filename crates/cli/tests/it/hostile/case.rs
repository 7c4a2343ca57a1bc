//! One case: a fault and how prony meets it, as a command line; and which cases there are.

use super::fault::{FAULTS, FOLLOW, Fate, Fault, Site, TO_HEAD, When};
use std::fmt::Write as _;
use std::path::Path;

/// How long connections are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    Kept,
    Fresh,
    /// For three requests.
    Three,
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Static,
    Template,
    Script,
    /// A script whose every text is three requests.
    Batch,
    /// A body that is the same for all, 300 kB and 8 MiB.
    Large,
    Huge,
    LargeTemplate,
    LargeScript,
    /// A body in chunks: always the same, and created for each request.
    Chunked,
    ChunkedTemplate,
    /// Two steps; the second sends what the first received.
    Session,
    /// One row of a file for each session.
    Rows,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Count,
    Closed,
    Open,
}

/// One run of prony against one server.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) fault: &'static Fault,
    /// Each request whose number this divides meets the fault.
    pub(super) every: u64,
    pub(super) driver: &'static str,
    pub(super) keeping: Keeping,
    pub(super) pipeline: u32,
    pub(super) kind: Kind,
    pub(super) load: Load,
}

const DRIVERS: [&str; 2] = ["epoll", "io_uring"];
const KEEPINGS: [Keeping; 3] = [Keeping::Kept, Keeping::Fresh, Keeping::Three];
const PIPELINES: [u32; 5] = [1, 2, 3, 8, 16];
const KINDS: [Kind; 12] = [
    Kind::Static,
    Kind::Template,
    Kind::Script,
    Kind::Batch,
    Kind::Large,
    Kind::Huge,
    Kind::LargeTemplate,
    Kind::LargeScript,
    Kind::Chunked,
    Kind::ChunkedTemplate,
    Kind::Session,
    Kind::Rows,
];
const LOADS: [Load; 3] = [Load::Count, Load::Closed, Load::Open];
/// Those that pipelining goes together with.
const IN_PIPELINES: [(Keeping, Load); 2] = [(Keeping::Kept, Load::Count), (Keeping::Three, Load::Closed)];
/// Faults that are tried with every other dimension.
const TYPICAL: [&str; 11] = [
    "chunks byte by byte",
    "Connection: close",
    "close without a word",
    "500",
    "SMTP",
    "closed in the body",
    "reset before the answer",
    "answer before the request is read",
    "silent",
    "307 keeps the request",
    "302 and close",
];

impl Kind {
    /// Whether each request of the budget is one request.
    pub(super) const fn is_single(self) -> bool {
        !matches!(self, Self::Batch | Self::Session | Self::Rows)
    }

    pub(super) const fn has_sessions(self) -> bool {
        matches!(self, Self::Session | Self::Rows)
    }

    const fn has_large_body(self) -> bool {
        matches!(self, Self::Large | Self::Huge | Self::LargeTemplate | Self::LargeScript | Self::Chunked)
    }
}

impl Case {
    const fn plain(fault: &'static Fault, driver: &'static str) -> Self {
        let (keeping, kind, load) = (Keeping::Kept, Kind::Static, Load::Count);
        Self { fault, every: 3, driver, keeping, pipeline: 1, kind, load }
    }

    /// Name by which a case is found again.
    pub(super) fn name(&self) -> String {
        let Self { fault, every, driver, keeping, pipeline, kind, load } = self;
        let name = fault.name;
        format!("{name} / each {every} / {driver} / {keeping:?} / pipeline {pipeline} / {kind:?} / {load:?}")
    }

    /// Requests or sessions of a budget, and connections.
    pub(super) fn size(&self) -> (u64, u32) {
        match (self.fault.is_slow, self.kind) {
            (true, Kind::Huge) => (6, 3),
            (true, _) if self.every == 1 => (8, 4),
            (true, _) => (24, 6),
            (false, Kind::Huge) => (12, 3),
            (false, kind) if kind.has_large_body() => (90, 6),
            (false, _) if self.pipeline > 1 => (600, 6),
            (false, _) => (96, 6),
        }
    }

    /// The arguments behind `prony load`; files go to `folder`.
    pub(super) fn args(&self, folder: &Path, url: &str) -> Vec<String> {
        let (count, connections) = self.size();
        let mut line = format!("{url} --format json --quiet --driver {} -c {connections} -t 2", self.driver);
        // In a pipeline an answer too many is taken for the next request's, and the last ones wait for theirs in vain.
        let waits = self.fault.is_slow || self.fault.shifts && self.pipeline > 1;
        let timeout = if waits { "1s" } else { "30s" };
        let _ = write!(line, " --timeout {timeout} --pipeline {}", self.pipeline);
        line += match self.keeping {
            Keeping::Kept => "",
            Keeping::Fresh => " --disable-keepalive",
            Keeping::Three => " --requests-per-connection 3",
        };
        match self.load {
            Load::Count => drop(write!(line, " -n {count}")),
            Load::Closed => line += " -d 300ms",
            Load::Open => line += " -R 300 -d 500ms",
        }
        let mut args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        args.extend(self.fault.args.iter().map(|&arg| arg.to_owned()));
        args.extend(self.kind_args(folder));
        if TO_HEAD.iter().any(|fault| std::ptr::eq(fault, self.fault)) {
            args.extend(["-m", "HEAD"].map(str::to_owned));
        }
        args
    }

    fn kind_args(&self, folder: &Path) -> Vec<String> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("the folder can be written");
            path.to_str().expect("a temporary folder is UTF-8").to_owned()
        };
        let scenario = |text: &str| {
            let head = "schema = \"prony.scenario/1\"\nname = \"hostile\"\n";
            vec!["--scenario".to_owned(), write("hostile.toml", &format!("{head}{text}"))]
        };
        let script = |request: &str| {
            let text = format!("{SCRIPT_HEAD}function request()\n{request}\nend\n");
            vec!["-s".to_owned(), write("hostile.lua", &text)]
        };
        let large = || "x".repeat(300_000);
        match self.kind {
            Kind::Static => Vec::new(),
            Kind::Template => scenario("[request]\npath = \"/r/${counter()}\"\n"),
            Kind::Script => script("return wrk.format('GET', next_path())"),
            Kind::Batch => script(
                "local texts = {}\nfor n = 1, 3 do texts[n] = wrk.format('GET', next_path()) end\n\
                 return table.concat(texts)",
            ),
            Kind::Large => vec!["-b".to_owned(), format!("@{}", write("body", &large()))],
            Kind::Huge => vec!["-b".to_owned(), format!("@{}", write("body", &"x".repeat(8 << 20)))],
            Kind::LargeTemplate => scenario(&format!(
                "[request]\npath = \"/r/${{counter()}}\"\nbody = \"${{counter()}}:{}\"\n",
                large()
            )),
            Kind::Chunked => {
                vec!["--chunked=1000".to_owned(), "-b".to_owned(), format!("@{}", write("body", &large()))]
            }
            Kind::ChunkedTemplate => scenario(
                "[request]\npath = \"/r/${counter()}\"\nchunked = \"7B\"\nbody = \"${counter()}:xxxxxxxxxxxxxxxxxx\"\n",
            ),
            Kind::LargeScript => {
                script("return wrk.format('POST', next_path(), nil, string.rep('x', 300000))")
            }
            Kind::Session => scenario(SESSION),
            Kind::Rows => {
                let rows: String = (0..5000).map(|row| format!("{row}\n")).collect();
                write("rows.txt", &rows);
                scenario(ROWS)
            }
        }
    }

    /// Whether the dimensions go together.
    fn is_possible(&self) -> bool {
        let listens = self.fault.site == Site::Serving;
        let is_head = TO_HEAD.iter().any(|fault| std::ptr::eq(fault, self.fault));
        let follows = self.fault.args == FOLLOW;
        let is_told = !(self.fault.args.is_empty() || follows) || is_head;
        // A text of several requests fails where redirects are followed.
        let is_batch = follows && self.kind == Kind::Batch;
        let needs_static = is_told && self.kind != Kind::Static;
        // A body that nobody reads is the fault; without one the request would be whole.
        let reads_none = self.fault.name == "reads no body" && self.kind != Kind::Huge;
        // Rows would run out.
        let wants_rows = self.kind == Kind::Rows && self.load != Load::Count;
        let is_huge_flood = self.kind == Kind::Huge && self.load == Load::Open;
        let goes_nowhere = !listens && (self.load != Load::Count || self.kind != Kind::Static);
        let refuses = self.pipeline > 1 && (self.keeping == Keeping::Fresh || self.load == Load::Open);
        !(is_batch || refuses || needs_static || reads_none || wants_rows || is_huge_flood || goes_nowhere)
    }
}

const SCRIPT_HEAD: &str = "local threads, n = 0, 0\n\
    function setup(thread) threads = threads + 1; thread:set('thread_id', threads) end\n\
    function next_path() n = n + 1; return '/r/' .. thread_id .. '-' .. n end\n";

const SESSION: &str = r#"
[session]
steps = ["login", "use"]

[[requests]]
name = "login"
path = "/login/${session()}"
capture = { token = { header = "X-Token", default = "none" } }

[[requests]]
name = "use"
path = "/use/${token}/${session()}"
"#;

const ROWS: &str = r#"
[feeders.rows]
file = "rows.txt"
format = "lines"
order = "unique"

[session]
steps = ["row"]

[[requests]]
name = "row"
path = "/row/${rows.line}"
"#;

fn faults() -> impl Iterator<Item = &'static Fault> {
    FAULTS.iter().copied().flatten().chain(TO_HEAD)
}

fn fault(name: &str) -> &'static Fault {
    faults().find(|fault| fault.name == name).expect("the name is in the table")
}

/// All cases of the suite.
pub(super) fn suite() -> Vec<Case> {
    let mut cases = Vec::new();
    // Each fault alone, on both drivers.
    for fault in faults() {
        for driver in DRIVERS {
            let kind = if fault.name == "reads no body" { Kind::Huge } else { Kind::Static };
            cases.push(Case { kind, ..Case::plain(fault, driver) });
        }
    }
    // Each kind of request at each depth, against a server that only answers.
    for kind in KINDS {
        for pipeline in PIPELINES {
            cases.extend(DRIVERS.map(|driver| Case {
                kind,
                pipeline,
                ..Case::plain(fault("plain"), driver)
            }));
        }
    }
    // Typical faults with every kind, every depth, every way of keeping connections and every load, in turn.
    let mut turn = 0;
    for name in TYPICAL {
        for kind in KINDS {
            for pipeline in PIPELINES {
                turn += 1;
                cases.push(Case {
                    every: [5, 1, 17][turn % 3],
                    keeping: if pipeline > 1 { IN_PIPELINES[turn / 2 % 2].0 } else { KEEPINGS[turn / 2 % 3] },
                    kind,
                    pipeline,
                    load: if pipeline > 1 { IN_PIPELINES[turn / 4 % 2].1 } else { LOADS[turn / 3 % 3] },
                    ..Case::plain(fault(name), DRIVERS[turn % 2])
                });
            }
        }
    }
    cases.retain(Case::is_possible);
    cases
}

/// A few cases that stand for the suite: one fault of each family, and each kind of request in a pipeline.
pub(super) fn selection() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, family) in FAULTS.iter().enumerate() {
        for fault in [&family[0], &family[family.len() / 2]] {
            cases.push(Case::plain(fault, DRIVERS[place % 2]));
        }
    }
    for (place, kind) in KINDS.into_iter().enumerate() {
        let driver = DRIVERS[place % 2];
        cases.push(Case { kind, pipeline: 3, ..Case::plain(fault("plain"), driver) });
    }
    for name in TYPICAL.into_iter().take(6) {
        cases.push(Case {
            kind: Kind::Template,
            pipeline: 3,
            every: 5,
            ..Case::plain(fault(name), DRIVERS[0])
        });
    }
    cases.retain(Case::is_possible);
    cases
}

/// The case of this number among all that there could be, drawn so that neighbours differ; none where its dimensions
/// do not go together.
pub(super) fn drawn(number: u64) -> Option<Case> {
    let mut state = units::Seed(number).derive("hostile case", number).0;
    let mut draw = |count: usize| {
        let choice = state % count as u64;
        state /= count as u64;
        usize::try_from(choice).expect("below a length")
    };
    let fault = faults().nth(draw(faults().count())).expect("below the count");
    let case = Case {
        fault,
        every: [1, 2, 3, 5, 17, 50][draw(6)],
        driver: DRIVERS[draw(2)],
        keeping: KEEPINGS[draw(3)],
        pipeline: PIPELINES[draw(5)],
        kind: KINDS[draw(12)],
        load: LOADS[draw(3)],
    };
    case.is_possible().then_some(case)
}

impl Case {
    /// Whether nothing that was sent is lost with a connection.
    pub(super) fn lives(&self) -> bool {
        matches!(self.fault.fate, Fate::Right | Fate::Wrong | Fate::Hop) && self.fault.when == When::Request
    }
}
