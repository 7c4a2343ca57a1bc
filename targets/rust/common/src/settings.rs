//! The environment, read once at the start. What is wrong becomes an error that names the variable, the value
//! and what is allowed; all of them are reported at once. A variable that is unset or empty has its default.
//!
//! Deliberately absent: unknown variables, which cannot be distinguished from those of other programs.
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Seen from the folder of a target, where prony starts it.
const FILES_DIR: &str = "../../files";

/// Settings that mean nothing, one a line.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct SettingsError(Vec<String>);

/// Reads variables and collects what is wrong with them.
pub struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    wrong: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads through `lookup`, the environment or a test's.
    pub fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { lookup, wrong: Vec::new() }
    }

    /// The value as it stands; none where it is unset or empty.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|text| !text.is_empty())
    }

    /// `true` or `false`.
    pub fn bool(&mut self, name: &str, default: bool) -> bool {
        self.parsed(name, "true or false", |text| text.parse().ok()).unwrap_or(default)
    }

    /// A whole number in `range`.
    pub fn number<T>(&mut self, name: &str, range: RangeInclusive<T>) -> Option<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        self.parsed(name, &wanted, |text| text.parse().ok().filter(|n| range.contains(n)))
    }

    /// A time with its unit, such as 500ms or 30s, in `range`.
    pub fn duration(&mut self, name: &str, default: Duration, range: RangeInclusive<Duration>) -> Duration {
        let wanted = format!("a time from {:?} to {:?}, such as 500ms or 30s", range.start(), range.end());
        let parse = |text: &str| humantime::parse_duration(text).ok().filter(|time| range.contains(time));
        self.parsed(name, &wanted, parse).unwrap_or(default)
    }

    /// Host and port of a service; none where neither is set.
    pub fn address(&mut self, prefix: &str) -> Option<(String, u16)> {
        let host = self.text(&format!("{prefix}_HOST"));
        let name = format!("{prefix}_PORT");
        let given = self.text(&name).is_some();
        let port = self.number(&name, 1..=u16::MAX);
        match (host, port) {
            (Some(host), Some(port)) => return Some((host, port)),
            (None, None) if !given => {}
            _ => self.fail(format!(
                "{prefix}_HOST and {name} belong together: set both, or neither to do without"
            )),
        }
        None
    }

    /// Adds an error that a caller found.
    pub fn fail(&mut self, wrong: String) {
        self.wrong.push(wrong);
    }

    /// What was read, unless something was wrong.
    ///
    /// # Errors
    /// Every value that means nothing.
    pub fn finish<T>(self, read: T) -> Result<T, SettingsError> {
        if self.wrong.is_empty() { Ok(read) } else { Err(SettingsError(self.wrong)) }
    }

    fn parsed<T>(&mut self, name: &str, wanted: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = self.text(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.fail(format!("{name}={text:?} is not {wanted}: set it so, or leave it out"));
        }
        value
    }
}

/// What every Rust target reads.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `host:port` to serve on.
    pub listen: String,
    /// Folder of `/file`.
    pub files: PathBuf,
    /// Secret of the tokens.
    pub secret: String,
    /// File of the access log.
    pub access_log: PathBuf,
    /// Every route is logged.
    pub logger: bool,
    /// Requests are timed, for `/debug/requests`.
    pub request_times: bool,
    /// Connections serve more than one request.
    pub keepalive: bool,
    /// How long a connection waits for a whole request header.
    pub keepalive_timeout: Duration,
    /// HTTP/2 without TLS is taken too, from clients that begin with it.
    pub http2: bool,
    /// Answers leave at once (TCP_NODELAY).
    pub nodelay: bool,
    /// Threads of the runtime; none: as many as there are CPUs.
    pub worker_threads: Option<usize>,
}

impl Settings {
    /// Reads them; what is wrong stays in `reader`.
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        let files = reader.text("FILES_DIR").map(PathBuf::from);
        if let Some(folder) = files.as_ref().filter(|folder| !folder.is_dir()) {
            reader.fail(format!("FILES_DIR={folder:?} is no folder: set it to one, or leave it out"));
        }
        Self {
            listen: reader.text("LISTEN").unwrap_or_else(|| "127.0.0.1:8080".to_owned()),
            files: files.unwrap_or_else(|| PathBuf::from(FILES_DIR)),
            secret: reader.text("JWT_SECRET").unwrap_or_else(|| "prony-contract-secret".to_owned()),
            access_log: reader.text("ACCESS_LOG").unwrap_or_else(|| "/dev/null".to_owned()).into(),
            logger: reader.bool("LOGGER", false),
            request_times: reader.bool("REQUEST_TIMES", false),
            keepalive: reader.bool("KEEPALIVE", true),
            keepalive_timeout: reader.duration(
                "KEEPALIVE_TIMEOUT",
                Duration::from_secs(120),
                Duration::from_millis(1)..=day,
            ),
            http2: reader.bool("HTTP2", false),
            nodelay: reader.bool("TCP_NODELAY", true),
            worker_threads: reader.number("TOKIO_WORKER_THREADS", 1..=4096),
        }
    }
}

/// The variable of this process; what is no Unicode is reported as a value that means nothing.
pub fn system(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Settings, SettingsError> {
        let lookup = |asked: &str| (asked == name).then(|| value.to_owned());
        let mut reader = Reader::new(&lookup);
        let settings = Settings::read(&mut reader);
        reader.finish(settings)
    }

    #[test]
    fn what_is_unset_or_empty_has_its_default() {
        for name in ["NOTHING", "TOKIO_WORKER_THREADS", "KEEPALIVE_TIMEOUT", "LISTEN"] {
            let settings = read(name, "").unwrap();
            assert_eq!(settings.listen, "127.0.0.1:8080");
            assert_eq!(settings.worker_threads, None);
            assert_eq!(settings.keepalive_timeout, Duration::from_secs(120));
        }
    }

    #[test]
    fn values_are_taken() {
        assert_eq!(read("TOKIO_WORKER_THREADS", "3").unwrap().worker_threads, Some(3));
        assert_eq!(read("KEEPALIVE_TIMEOUT", "1.5s").unwrap().keepalive_timeout, Duration::from_millis(1500));
        assert!(!read("TCP_NODELAY", "false").unwrap().nodelay);
    }

    #[test]
    fn wrong_values_are_errors_that_name_the_variable() {
        let cases = [
            ("TOKIO_WORKER_THREADS", "0"),
            ("TOKIO_WORKER_THREADS", "x"),
            ("KEEPALIVE_TIMEOUT", "5"),
            ("KEEPALIVE_TIMEOUT", "0s"),
            ("KEEPALIVE", "yes"),
            ("HTTP2", "2"),
            ("FILES_DIR", "/no/such/folder"),
        ];
        for (name, value) in cases {
            let error = read(name, value).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
    }

    #[test]
    fn a_service_has_host_and_port_or_neither() {
        let cases = [
            (None, None, Ok(false)),
            (Some("h"), Some("1"), Ok(true)),
            (Some("h"), None, Err(())),
            (None, Some("1"), Err(())),
            (Some("h"), Some("x"), Err(())),
        ];
        for (host, port, want) in cases {
            let lookup = |name: &str| if name == "DB_HOST" { host } else { port }.map(str::to_owned);
            let mut reader = Reader::new(&lookup);
            let given = reader.address("DB").is_some();
            assert_eq!(reader.finish(given).map_err(|_| ()), want, "{host:?} {port:?}");
        }
    }
}
