//! ghz: calls of gRPC. Its `-c` is the number of calls at a time over all connections, of which it opens one by default;
//! its time-out is a deadline that is sent to the server.

use super::native::{Certificates, Native, Ours, with_units};
use super::shared_evenly;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use units::{Count, PerSecond};

/// Flags of ghz.
#[derive(Debug, clap::Parser)]
pub(super) struct Ghz {
    /// Method: package.Service/Method
    #[arg(long)]
    call: String,
    /// .proto file
    #[arg(long)]
    proto: Option<String>,
    /// Descriptor set
    #[arg(long, conflicts_with = "proto")]
    protoset: Option<String>,
    /// Folders of imports, separated by commas
    #[arg(short, long, value_delimiter = ',')]
    import_paths: Vec<String>,
    /// Calls in total
    #[arg(short = 'n', long, default_value = "200")]
    total: Count,
    /// Calls at a time
    #[arg(short, long, default_value = "50")]
    concurrency: u64,
    /// Connections
    #[arg(long, default_value = "1")]
    connections: u64,
    /// Calls per second in total; 0 is no limit
    #[arg(short, long)]
    rps: Option<f64>,
    /// Duration; -n is ignored then
    #[arg(short = 'z', long)]
    duration: Option<String>,
    /// Deadline of each call; 0 is none
    #[arg(short, long, default_value = "20s")]
    timeout: String,
    /// Message in JSON
    #[arg(short, long, conflicts_with = "data_file")]
    data: Option<String>,
    /// Message in JSON from a file
    #[arg(short = 'D', long)]
    data_file: Option<String>,
    /// Metadata as a JSON object
    #[arg(short, long)]
    metadata: Option<String>,
    /// Metadata as a JSON object from a file
    #[arg(short = 'M', long, conflicts_with = "metadata")]
    metadata_file: Option<String>,
    /// Compress by gzip
    #[arg(short, long)]
    enable_compression: bool,
    /// Messages on each stream; 0 is those of the data
    #[arg(long)]
    stream_call_count: Option<u64>,
    /// Pause between two messages of a stream
    #[arg(long)]
    stream_interval: Option<String>,
    /// How long each stream sends
    #[arg(long)]
    stream_call_duration: Option<String>,
    /// Plain text
    #[arg(long)]
    insecure: bool,
    /// Accept any certificate
    #[arg(long = "skipTLS")]
    skip_tls: bool,
    #[command(flatten)]
    certificates: Certificates,
    /// Name that the server's certificate must have
    #[arg(long)]
    cname: Option<String>,
    #[command(flatten)]
    ours: Ours,
    /// Where to: host and port
    host: String,
}

pub(super) fn translate(ghz: Ghz) -> Result<Native> {
    let scheme = if ghz.insecure { "http" } else { "https" };
    let mut native = Native::new(&format!("{scheme}://{}", ghz.host));
    native.set("--grpc", &ghz.call);
    native.set_some("--proto", ghz.proto.as_ref());
    ghz.import_paths.iter().for_each(|folder| native.set("--import-path", folder));
    native.set_some("--protoset", ghz.protoset.as_ref());
    message(&mut native, &ghz)?;
    metadata(&mut native, &ghz)?;
    messages(&mut native, &ghz)?;
    amount(&mut native, &ghz)?;
    if !is_zero(&ghz.timeout) {
        native.set("--call-deadline", with_units(&ghz.timeout)?);
    }
    native.set_some("--compress", ghz.enable_compression.then_some("gzip"));
    native.switch("-k", ghz.skip_tls && !ghz.insecure);
    native.certificates(&ghz.certificates);
    native.set_some("--sni", ghz.cname.as_ref());
    native.ours(&ghz.ours);
    Ok(native)
}

fn message(native: &mut Native, ghz: &Ghz) -> Result<()> {
    if let Some(data) = &ghz.data {
        if data == "@" {
            bail!("-d @ reads standard input; save the message and give it with -D FILE");
        }
        no_templates(data)?;
        if data.trim_start().starts_with('[') {
            bail!("a list of messages is a scenario of several requests; write one, with a weight for each");
        }
        native.set("--data", data);
    }
    native.set_some("--data-file", ghz.data_file.as_ref());
    Ok(())
}

/// Zero, by which ghz means none.
fn is_zero(time: &str) -> bool {
    time.trim_start_matches('0').trim_end_matches('s').is_empty()
}

/// Messages of streams. ghz waits so long between two; prony intends each at its own moment.
fn messages(native: &mut Native, ghz: &Ghz) -> Result<()> {
    native.set_some("--messages", ghz.stream_call_count.filter(|count| *count > 0));
    if let Some(text) = ghz.stream_interval.as_ref().filter(|text| !is_zero(text)) {
        native.set("--message-rate", PerSecond(1e9 / with_units(text)?.0 as f64));
    }
    if let Some(text) = ghz.stream_call_duration.as_ref().filter(|text| !is_zero(text)) {
        native.set("--stream-for", with_units(text)?);
    }
    Ok(())
}

/// ghz renders Go templates, which are not read here.
fn no_templates(text: &str) -> Result<()> {
    if text.contains("{{") {
        bail!(
            "`{{{{…}}}}` is a template of Go; write ${{…}}, for example ${{counter()}} for {{{{.RequestNumber}}}}"
        );
    }
    Ok(())
}

fn metadata(native: &mut Native, ghz: &Ghz) -> Result<()> {
    let text = match (&ghz.metadata, &ghz.metadata_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            std::fs::read_to_string(file).with_context(|| format!("cannot read the metadata from {file}"))?
        }
        (None, None) => return Ok(()),
    };
    no_templates(&text)?;
    let Ok(Value::Object(fields)) = serde_json::from_str(&text) else {
        bail!("metadata is a JSON object such as {{\"x-id\": \"7\"}}, not `{text}`");
    };
    for (name, value) in fields {
        let Value::String(value) = value else {
            bail!("the metadata `{name}` is no text; write it in quotes")
        };
        native.set("--metadata", format!("{}={value}", name.to_lowercase()));
    }
    Ok(())
}

fn amount(native: &mut Native, ghz: &Ghz) -> Result<()> {
    let calls = shared_evenly(ghz.concurrency, ghz.connections, "calls at a time", "connections")?;
    native.set("-c", ghz.connections);
    native.set("--streams", calls / ghz.connections);
    if calls != ghz.concurrency {
        let asked = ghz.concurrency;
        native.note(format!("{calls} of {asked} calls at a time: each connection carries equally many"));
    }
    let rate_per_s = ghz.rps.filter(|rate| *rate != 0.0);
    if rate_per_s.is_some() {
        native.note_open_loop("ghz");
    }
    match (&ghz.duration, rate_per_s) {
        (Some(time), rate_per_s) => {
            native.set("-d", with_units(time)?);
            native.set_some("-R", rate_per_s);
        }
        (None, _) if ghz.total.0 < ghz.concurrency => {
            bail!("ghz takes no fewer calls (-n {}) than run at a time (-c {})", ghz.total, ghz.concurrency);
        }
        (None, Some(rate_per_s)) => native.count_at_rate(ghz.total.0, rate_per_s)?,
        (None, None) => native.set("-n", ghz.total),
    }
    Ok(())
}
