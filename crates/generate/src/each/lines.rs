//! Rows as bytes. Written by hand, because a thread of the lowest priority must keep up with the load; a test reads
//! them with the types of [`schema::each`].

use engine::{Outcome, Row};
use plan::EachFormat;
use schema::each::{EachHead, EachOutcome, EachPhase};
use schema::version::EachVersion;

/// The head of a file of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) origin_unix_ns: u64,
    pub(super) share: f64,
    pub(super) seed: u64,
}

/// Columns of CSV: the fields of [`schema::each::EachRow`] in their order, and the wall clock.
const COLUMNS: &str = "request,phase,worker,connection,name,intended_ns,pacer_lag_ns,connection_wait_ns,service_ns,\
    response_ns,first_byte_ns,status,body_bytes,outcome,error,intended_unix_ns\n";

/// Writes rows in one format.
pub(super) struct Lines {
    format: EachFormat,
    /// Names of the requests, quoted as the format wants them.
    names: Vec<String>,
    origin_unix_ns: u64,
    digits: itoa::Buffer,
}

impl Lines {
    pub(super) fn new(format: EachFormat, names: &[String]) -> Self {
        let quoted = |name: &String| match format {
            EachFormat::Csv => csv_text(name),
            EachFormat::JsonLines => schema::json::line(name).unwrap_or_else(|_| "\"\"".to_owned()),
        };
        let names = names.iter().map(quoted).collect();
        Self { format, names, origin_unix_ns: 0, digits: itoa::Buffer::new() }
    }

    /// From here on the wall clock at the origin is known.
    pub(super) const fn begin(&mut self, origin_unix_ns: u64) {
        self.origin_unix_ns = origin_unix_ns;
    }

    /// What stands before the first row.
    pub(super) fn head(&self, head: Head, to: &mut Vec<u8>) {
        let Head { origin_unix_ns, share, seed } = head;
        match self.format {
            EachFormat::Csv => to.extend_from_slice(COLUMNS.as_bytes()),
            EachFormat::JsonLines => {
                let schema = EachVersion::default();
                let head = EachHead { schema, origin_unix_ns, share, seed };
                to.extend(schema::json::line(&head).unwrap_or_default().into_bytes());
                to.push(b'\n');
            }
        }
    }

    /// One row with its line end.
    pub(super) fn row(&mut self, worker: u32, row: &Row, to: &mut Vec<u8>) {
        match self.format {
            EachFormat::Csv => self.csv(worker, row, to),
            EachFormat::JsonLines => self.json(worker, row, to),
        }
    }

    fn csv(&mut self, worker: u32, row: &Row, to: &mut Vec<u8>) {
        let (outcome, error) = outcome(row.outcome);
        self.cell(Some(row.request), to);
        text(phase(row), to);
        self.cell(Some(worker.into()), to);
        self.cell(row.connection().map(u64::from), to);
        text(self.names.get(usize::from(row.entry)).map_or("", String::as_str), to);
        for number in [
            Some(row.intended_ns),
            row.pacer_lag_ns(),
            row.connection_wait_ns(),
            row.service_ns(),
            row.response_ns(),
            row.first_byte_ns(),
            row.status().map(u64::from),
            row.body_bytes(),
        ] {
            self.cell(number, to);
        }
        text(outcome, to);
        text(error.unwrap_or_default(), to);
        let unix_ns = self.origin_unix_ns.saturating_add(row.intended_ns);
        to.extend_from_slice(self.digits.format(unix_ns).as_bytes());
        to.push(b'\n');
    }

    /// A cell with a number, empty for none, and the comma behind it.
    fn cell(&mut self, number: Option<u64>, to: &mut Vec<u8>) {
        if let Some(number) = number {
            to.extend_from_slice(self.digits.format(number).as_bytes());
        }
        to.push(b',');
    }

    fn json(&mut self, worker: u32, row: &Row, to: &mut Vec<u8>) {
        let (outcome, error) = outcome(row.outcome);
        self.member(b"{\"request\":", Some(row.request), to);
        quoted(b",\"phase\":\"", phase(row), to);
        self.member(b",\"worker\":", Some(worker.into()), to);
        self.member(b",\"connection\":", row.connection().map(u64::from), to);
        to.extend_from_slice(b",\"name\":");
        let name = self.names.get(usize::from(row.entry)).map_or("\"\"", String::as_str);
        to.extend_from_slice(name.as_bytes());
        self.member(b",\"intended_ns\":", Some(row.intended_ns), to);
        self.member(b",\"pacer_lag_ns\":", row.pacer_lag_ns(), to);
        self.member(b",\"connection_wait_ns\":", row.connection_wait_ns(), to);
        self.member(b",\"service_ns\":", row.service_ns(), to);
        self.member(b",\"response_ns\":", row.response_ns(), to);
        self.member(b",\"first_byte_ns\":", row.first_byte_ns(), to);
        self.member(b",\"status\":", row.status().map(u64::from), to);
        self.member(b",\"body_bytes\":", row.body_bytes(), to);
        quoted(b",\"outcome\":\"", outcome, to);
        if let Some(error) = error {
            quoted(b",\"error\":\"", error, to);
        }
        to.extend_from_slice(b"}\n");
    }

    /// A key with a number; nothing where there is none.
    fn member(&mut self, key: &[u8], number: Option<u64>, to: &mut Vec<u8>) {
        if let Some(number) = number {
            to.extend_from_slice(key);
            to.extend_from_slice(self.digits.format(number).as_bytes());
        }
    }
}

/// A cell with a text that needs no quotes or has them, and the comma behind it.
fn text(text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(text.as_bytes());
    to.push(b',');
}

/// A key up to the quote that begins its value, and the value with the quote that ends it.
fn quoted(key: &[u8], value: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(key);
    to.extend_from_slice(value.as_bytes());
    to.push(b'"');
}

/// A text as a cell of RFC 4180; without a text, an empty one.
fn csv_text(text: &str) -> String {
    let mut cell = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = cell.write_record([text]);
    let bytes = cell.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default().trim_end_matches('\n').to_owned()
}

/// The words of [`EachPhase`] as serde writes them.
const fn phase(row: &Row) -> &'static str {
    match if row.is_measured { EachPhase::Measured } else { EachPhase::Warmup } {
        EachPhase::Measured => "measured",
        EachPhase::Warmup => "warmup",
    }
}

/// The words of [`EachOutcome`] as serde writes them, and the class of a failure.
const fn outcome(outcome: Outcome) -> (&'static str, Option<&'static str>) {
    let (outcome, error) = match outcome {
        Outcome::Completed => (EachOutcome::Completed, None),
        Outcome::Failed(class) => (EachOutcome::Failed, Some(class.key())),
        Outcome::Censored => (EachOutcome::Censored, None),
    };
    let word = match outcome {
        EachOutcome::Completed => "completed",
        EachOutcome::Failed => "failed",
        EachOutcome::Censored => "censored",
    };
    (word, error)
}
