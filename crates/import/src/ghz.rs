//! Configurations of ghz, in JSON or TOML: one call of gRPC, and how much of it.
//!
//! Files are named as in the input. A list of messages and Go's templates have no equal and are refused; keys about output
//! are counted in a note.

use crate::error::{Problem, quoted};
use crate::imported::Imported;
use crate::notes::Notes;
use crate::url::Origin;
use schema::grpc::{Compression, Grpc};
use schema::scenario::{NamedRequest, ScenarioFile};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use units::{Nanos, PerSecond};

/// What ghz does where the file says nothing.
const TOTAL: u64 = 200;
const CONCURRENCY: u64 = 50;
const TIMEOUT: Nanos = Nanos::from_secs(20);
/// Most calls at a time on a connection of prony.
const STREAMS_MAX: u64 = 10_000;

/// A configuration whose keys are taken out one by one.
struct Config(Map<String, Value>);

impl Config {
    fn parse(text: &str) -> Result<Self, Problem> {
        let remedy = "give a configuration of ghz, as its --config reads it";
        let value: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text)
                .map_err(|error| Problem::new(format!("not JSON: {error}"), remedy).at(error.line().max(1)))?
        } else {
            toml::from_str(text).map_err(|error| {
                let at = error.span().map_or(0, |span| span.start.min(text.len()));
                let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
                Problem::new(format!("not TOML: {}", error.message()), remedy).at(line)
            })?
        };
        match value {
            Value::Object(keys) => Ok(Self(keys)),
            _ => Err(Problem::new("the file is no table of settings", remedy)),
        }
    }

    /// A text, or nothing where the key is missing or empty.
    fn text(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(key, &other, "a text")),
        }
    }

    fn number(&mut self, key: &str, default: u64) -> Result<u64, Problem> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => {
                let number = value.as_u64().filter(|number| (1..=1_000_000_000_000).contains(number));
                number.ok_or_else(|| wrong(key, &value, "a number from 1"))
            }
        }
    }

    /// A number from 0, which is what is missing, too.
    fn count(&mut self, key: &str) -> Result<u64, Problem> {
        if self.0.get(key).and_then(Value::as_u64) == Some(0) {
            self.0.remove(key);
        }
        self.number(key, 0)
    }

    fn truth(&mut self, key: &str) -> Result<bool, Problem> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(truth)) => Ok(truth),
            Some(other) => Err(wrong(key, &other, "true or false")),
        }
    }

    /// A time such as `20s`; a zero stays.
    fn time(&mut self, key: &str) -> Result<Option<Nanos>, Problem> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if ["0", "0s"].contains(&text.as_str()) {
            return Ok(Some(Nanos::ZERO));
        }
        let time =
            text.parse().map_err(|_| wrong(key, &Value::String(text.clone()), "a time such as 20s"))?;
        Ok(Some(time))
    }
}

fn wrong(key: &str, value: &Value, wanted: &str) -> Problem {
    Problem::new(format!("`{key}` is {}", quoted(&value.to_string())), format!("write {wanted}"))
}

/// The scenario of a configuration.
pub(crate) fn read(name: &str, text: &str, description: String) -> Result<Imported, Problem> {
    let mut config = Config::parse(text)?;
    let mut notes = Notes::default();
    let method = config.text("call")?.ok_or_else(|| {
        Problem::new("there is no `call`", "write the method, as \"call\": \"package.Service/Method\"")
    })?;
    let is_plain = config.truth("insecure")?;
    let origin = origin(&mut config, is_plain)?;
    let mut load = amount(&mut config)?;
    load.extend(tls(&mut config, is_plain)?);
    let proto = config.text("proto")?;
    let protoset = config.text("protoset")?.filter(|_| proto.is_none());
    let deadline = Some(config.time("timeout")?.unwrap_or(TIMEOUT)).filter(|time| *time > Nanos::ZERO);
    let grpc = Grpc {
        method: method.clone(),
        proto: proto.into_iter().collect(),
        import_path: import_paths(&mut config)?,
        protoset,
        message: message(&mut config)?,
        message_file: config.text("data-file")?,
        metadata: metadata(&mut config)?,
        deadline,
        compress: config.truth("enable-compression")?.then_some(Compression::Gzip),
        messages: Some(config.count("stream-call-count")?).filter(|count| *count > 0),
        message_rate: time_of_streams(&mut config, "stream-interval")?
            .map(|pause| PerSecond(1e9 / pause.0 as f64)),
        in_flight: None,
        stream_for: time_of_streams(&mut config, "stream-call-duration")?,
    };
    if grpc.proto.is_empty() && grpc.protoset.is_none() {
        notes.count(
            "neither proto nor protoset, where ghz asks the server: name a .proto file in the scenario",
        );
    }
    config.0.keys().for_each(|key| notes.count(&format!("left out: {}", quoted(key))));
    let short = method.rsplit(['/', '.']).next().unwrap_or(&method).to_owned();
    let request = NamedRequest {
        name: if short.trim().is_empty() { "call".to_owned() } else { short },
        grpc: Some(grpc),
        ..NamedRequest::default()
    };
    let scenario = ScenarioFile {
        name: name.to_owned(),
        description: Some(description),
        requests: vec![request],
        ..ScenarioFile::default()
    };
    let origin = origin.to_string();
    Ok(Imported { scenario, origin, bodies: Vec::new(), notes: notes.into_texts(), think: None, load })
}

fn origin(config: &mut Config, is_plain: bool) -> Result<Origin, Problem> {
    let host = config.text("host")?.unwrap_or_else(|| "127.0.0.1:50051".to_owned());
    Origin::parse(&format!("{}://{host}", if is_plain { "http" } else { "https" }))
}

/// A time that ghz's streams keep to; it waits so long between two messages where prony intends each at its own moment. A
/// zero is none.
fn time_of_streams(config: &mut Config, key: &str) -> Result<Option<Nanos>, Problem> {
    Ok(config.time(key)?.filter(|time| *time > Nanos::ZERO))
}

/// How much is sent, as arguments of `prony load`.
fn amount(config: &mut Config) -> Result<Vec<String>, Problem> {
    let connections = config.number("connections", 1)?;
    let concurrency = config.number("concurrency", CONCURRENCY)?;
    let total = config.number("total", TOTAL)?;
    let streams = (concurrency / connections).clamp(1, STREAMS_MAX);
    let mut load =
        vec!["-c".to_owned(), connections.to_string(), "--streams".to_owned(), streams.to_string()];
    match config.time("duration")?.filter(|time| *time > Nanos::ZERO) {
        Some(duration) => load.extend(["-d".to_owned(), duration.to_string()]),
        None => load.extend(["-n".to_owned(), total.to_string()]),
    }
    match config.0.remove("rps") {
        None | Some(Value::Null) => {}
        Some(value) => {
            let rate = value.as_f64().filter(|rate| (0.0..=1e9).contains(rate));
            let rate = rate.ok_or_else(|| wrong("rps", &value, "a rate from 0"))?;
            if rate > 0.0 {
                load.extend(["-R".to_owned(), rate.to_string()]);
            }
        }
    }
    Ok(load)
}

fn tls(config: &mut Config, is_plain: bool) -> Result<Vec<String>, Problem> {
    let mut load = Vec::new();
    if config.truth("skipTLS")? && !is_plain {
        load.push("-k".to_owned());
    }
    for (key, flag) in [("cacert", "--cacert"), ("cert", "--cert"), ("key", "--key"), ("cname", "--sni")] {
        if let Some(value) = config.text(key)?
            && let Ok(word) = shlex::try_quote(&value)
        {
            load.extend([flag.to_owned(), word.into_owned()]);
        }
    }
    Ok(load)
}

fn import_paths(config: &mut Config) -> Result<Vec<String>, Problem> {
    let Some(value) = config.0.remove("import-paths") else { return Ok(Vec::new()) };
    let paths = serde_json::from_value(value.clone());
    paths.map_err(|_| wrong("import-paths", &value, "a list of folders"))
}

/// The message as JSON text, in which nothing is an expression.
fn message(config: &mut Config) -> Result<Option<Value>, Problem> {
    let text = match config.0.remove("data") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(Value::Array(_)) => {
            let cause = "`data` is a list of messages, of which ghz sends one after the other";
            return Err(Problem::new(cause, "keep one; or import each and join them to a mix"));
        }
        Some(value) => value.to_string(),
    };
    no_templates(&text)?;
    Ok(Some(Value::String(text.replace("${", "$${"))))
}

fn no_templates(text: &str) -> Result<(), Problem> {
    if text.contains("{{") {
        let cause = format!("{} holds a template of Go", quoted(text));
        return Err(Problem::new(cause, "write ${…} in the scenario instead, as ${counter()}"));
    }
    Ok(())
}

fn metadata(config: &mut Config) -> Result<BTreeMap<String, String>, Problem> {
    let value = match config.0.remove("metadata") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(value) => value,
    };
    let Value::Object(fields) = &value else { return Err(wrong("metadata", &value, "a table of texts")) };
    let mut metadata = BTreeMap::new();
    for (name, field) in fields {
        let Value::String(text) = field else { return Err(wrong(name, field, "a text")) };
        no_templates(text)?;
        metadata.insert(name.to_lowercase(), text.replace("${", "$${"));
    }
    Ok(metadata)
}
