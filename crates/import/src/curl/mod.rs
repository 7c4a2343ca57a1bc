//! `curl` command lines, as "Copy as cURL (bash)" of browsers and documentation write them.
//!
//! What decides the request is read as curl reads it (its manual page is the reference); an unknown flag is an error,
//! because the request might be another without it. Files named by flags are named in the scenario, not read.

mod flags;
mod words;

use crate::assemble::Assembler;
use crate::draft::{Body, Draft, check_header};
use crate::error::{Problem, quoted};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flags::{Flag, Given};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schema::scenario::Part;
use units::Nanos;

/// What curl encodes for --data-urlencode: all but RFC 3986's unreserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What curl sends for --compressed, built with all its decoders.
const ENCODINGS: &str = "deflate, gzip, br, zstd";
const LINE_ENDS: &str =
    "bodies of -d @FILE, from which curl would remove line ends; prony sends the file as it is";
/// What --max-time may be: a day.
const MAX_TIME_S: f64 = 86_400.0;

pub(crate) fn read(text: &str, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    for command in words::commands(text)? {
        read_command(command.words, assembler).map_err(|problem| problem.at(command.line))?;
    }
    Ok(())
}

fn read_command(words: Vec<String>, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
    if words.iter().any(|word| word == "^") {
        return Err(Problem::new(
            "the line is quoted for cmd.exe (^)",
            "copy the request again, by \"Copy as cURL (bash)\"",
        ));
    }
    let mut words = words.into_iter().skip_while(|word| word == "$");
    match words.next() {
        Some(program) if program == "curl" || program == "curl.exe" => {}
        None => return Ok(()),
        Some(other) => {
            return Err(Problem::new(
                format!("the command is {}, not curl", quoted(&other)),
                "leave only curl commands in the file; end a line that goes on with \\",
            ));
        }
    }
    let mut request = Request::default();
    for given in flags::parse(words.collect())? {
        if given.flag == Flag::Next {
            std::mem::take(&mut request).add_to(assembler)?;
        } else {
            request.take(given, assembler)?;
        }
    }
    request.add_to(assembler)
}

/// A command line so far.
#[derive(Default)]
struct Request {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Fields that curl would send, but -H 'NAME:' takes away.
    removed: Vec<String>,
    data: Option<Data>,
    parts: Vec<Part>,
    is_get: bool,
    is_head: bool,
    is_json: bool,
    globoff: bool,
    timeout: Option<Nanos>,
}

/// What several -d add up to.
enum Data {
    Text(String),
    File(String),
}

impl Request {
    fn take(&mut self, given: Given, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
        let Given { flag, written, value } = given;
        match flag {
            Flag::Method => self.method = Some(value),
            Flag::Header => self.header(&value)?,
            Flag::Data if value.starts_with('@') => {
                assembler.notes.count(LINE_ENDS);
                self.file(&value[1..], &written)?;
            }
            Flag::DataBinary if value.starts_with('@') => self.file(&value[1..], &written)?,
            Flag::Json if value.starts_with('@') => {
                self.is_json = true;
                self.file(&value[1..], &written)?;
            }
            Flag::Json => {
                self.is_json = true;
                self.text(&value, "")?;
            }
            Flag::Data | Flag::DataRaw | Flag::DataBinary => self.text(&value, "&")?,
            Flag::DataUrlencode => self.text(&urlencoded(&value)?, "&")?,
            Flag::Form | Flag::FormString => self.parts.push(part(&value, flag == Flag::Form)?),
            Flag::Get => self.is_get = true,
            Flag::Head => self.is_head = true,
            Flag::User => self.user(&value)?,
            Flag::Cookie => self.cookie(value)?,
            Flag::Agent => self.set("User-Agent", value),
            Flag::Referer => {
                let value = value.strip_suffix(";auto").unwrap_or(&value).to_owned();
                self.set("Referer", value);
            }
            Flag::Url => self.urls.push(value),
            Flag::Compressed => self.default_header("Accept-Encoding", ENCODINGS),
            Flag::MaxTime => self.timeout = Some(max_time(&value)?),
            Flag::Globoff => self.globoff = true,
            Flag::Told(note) => assembler.notes.count(note),
            Flag::Nothing | Flag::Next => {}
        }
        Ok(())
    }

    /// `NAME: VALUE`, `NAME;` for an empty value, `NAME:` to take a field of curl's away.
    fn header(&mut self, text: &str) -> Result<(), Problem> {
        if text.starts_with('@') {
            return Err(Problem::new("-H @FILE is not read", "write each header field as an -H of its own"));
        }
        match text.split_once(':') {
            Some((name, value)) if value.trim().is_empty() => self.removed.push(name.trim().to_owned()),
            Some((name, value)) => {
                check_header(name.trim(), value.trim())?;
                self.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            None => {
                let name = text.strip_suffix(';').ok_or_else(|| {
                    Problem::new(format!("{} is no header field", quoted(text)), "write -H 'NAME: VALUE'")
                })?;
                self.headers.push((name.to_owned(), String::new()));
            }
        }
        Ok(())
    }

    fn is_given(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
            || self.removed.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn set(&mut self, name: &str, value: String) {
        self.headers.push((name.to_owned(), value));
    }

    fn default_header(&mut self, name: &str, value: &str) {
        if !self.is_given(name) {
            self.set(name, value.to_owned());
        }
    }

    fn user(&mut self, user: &str) -> Result<(), Problem> {
        if !user.contains(':') {
            return Err(Problem::new(
                "-u has no password, and curl would ask for it",
                "write -u USER:PASSWORD",
            ));
        }
        self.set("Authorization", format!("Basic {}", STANDARD.encode(user)));
        Ok(())
    }

    fn cookie(&mut self, cookie: String) -> Result<(), Problem> {
        if !cookie.contains('=') {
            return Err(Problem::new(
                format!("-b {} names a file of cookies, which is not read", quoted(&cookie)),
                "write -b 'NAME=VALUE; NAME=VALUE'",
            ));
        }
        self.set("Cookie", cookie);
        Ok(())
    }

    fn text(&mut self, text: &str, between: &str) -> Result<(), Problem> {
        match &mut self.data {
            None => self.data = Some(Data::Text(text.to_owned())),
            Some(Data::Text(known)) => {
                known.push_str(between);
                known.push_str(text);
            }
            Some(Data::File(_)) => return Err(mixed()),
        }
        Ok(())
    }

    fn file(&mut self, path: &str, flag: &str) -> Result<(), Problem> {
        if path.is_empty() || path == "-" {
            return Err(Problem::new(
                format!("{flag} reads standard input, which is not there"),
                "write the text itself, or name a file",
            ));
        }
        if self.data.is_some() {
            return Err(mixed());
        }
        self.data = Some(Data::File(path.to_owned()));
        Ok(())
    }

    fn add_to(mut self, assembler: &mut Assembler<'_>) -> Result<(), Problem> {
        if self.urls.is_empty() {
            return Err(Problem::new("the command has no URL", "write the URL, in quotes"));
        }
        let query = if self.is_get { self.query()? } else { None };
        let body = self.body()?;
        let method = match self.method.take() {
            Some(method) => method,
            None if self.is_head => "HEAD".to_owned(),
            None if self.is_get || matches!(body, Body::None) => "GET".to_owned(),
            None => "POST".to_owned(),
        };
        self.body_headers(&body);
        let mut body = Some(body);
        let last = self.urls.len() - 1;
        for (index, url) in self.urls.iter().enumerate() {
            self.check_glob(url)?;
            let body = if index == last { body.take() } else { body.as_ref().map(copy) };
            let draft = Draft {
                method: method.as_str().into(),
                url: with_query(url, query.as_deref()).into(),
                headers: self
                    .headers
                    .iter()
                    .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
                    .collect(),
                body: body.unwrap_or_default(),
                timeout: self.timeout,
                think: None,
            };
            assembler.add(draft)?;
        }
        Ok(())
    }

    /// -G: the data belongs to the URL.
    fn query(&mut self) -> Result<Option<String>, Problem> {
        match self.data.take() {
            Some(Data::File(_)) => {
                Err(Problem::new("-G with data from a file is not read", "write the data into the URL"))
            }
            Some(Data::Text(text)) => Ok(Some(text)),
            None => Ok(None),
        }
    }

    fn body(&mut self) -> Result<Body<'static>, Problem> {
        match (self.data.take(), std::mem::take(&mut self.parts)) {
            (Some(_), parts) if !parts.is_empty() => {
                Err(Problem::new("-d and -F exclude each other", "write all fields with -F, or all with -d"))
            }
            (Some(Data::Text(text)), _) => Ok(Body::Text(text.into())),
            (Some(Data::File(path)), _) => Ok(Body::File(path)),
            (None, parts) if !parts.is_empty() => Ok(Body::Parts(parts)),
            (None, _) => Ok(Body::None),
        }
    }

    fn body_headers(&mut self, body: &Body<'_>) {
        if self.is_json {
            self.default_header("Content-Type", "application/json");
            self.default_header("Accept", "application/json");
        } else if matches!(body, Body::Text(_) | Body::File(_)) {
            self.default_header("Content-Type", "application/x-www-form-urlencoded");
        }
    }

    /// curl makes several URLs of `[1-9]` and `{a,b}`.
    fn check_glob(&self, url: &str) -> Result<(), Problem> {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest).split_once(['/', '?']);
        let globs = path.is_some_and(|(_, path)| path.contains(['[', ']', '{', '}']));
        if globs && !self.globoff {
            return Err(Problem::new(
                format!("curl would make several URLs of {}", quoted(url)),
                "write each URL on its own, or -g where the brackets are meant",
            ));
        }
        Ok(())
    }
}

fn copy(body: &Body<'_>) -> Body<'static> {
    match body {
        Body::Text(text) => Body::Text(text.clone().into_owned().into()),
        Body::File(path) => Body::File(path.clone()),
        Body::Parts(parts) => Body::Parts(parts.clone()),
        Body::Bytes(bytes) => Body::Bytes(bytes.clone()),
        Body::None => Body::None,
    }
}

fn with_query(url: &str, query: Option<&str>) -> String {
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    match query {
        Some(query) if url.contains('?') => format!("{url}&{query}"),
        Some(query) => format!("{url}?{query}"),
        None => url,
    }
}

fn mixed() -> Problem {
    Problem::new(
        "one body of a file and a text, or of two files, is not read",
        "put all of the body into one file: --data-binary @FILE",
    )
}

/// `VALUE`, `=VALUE` or `NAME=VALUE`; only the value is encoded.
fn urlencoded(text: &str) -> Result<String, Problem> {
    let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    match (text.find('='), text.find('@')) {
        (equals, Some(at)) if equals.is_none_or(|equals| at < equals) => Err(Problem::new(
            "--data-urlencode from a file is not read",
            "write the text itself, as --data-urlencode 'NAME=TEXT'",
        )),
        (Some(0), _) => Ok(encode(&text[1..])),
        (Some(equals), _) => Ok(format!("{}={}", &text[..equals], encode(&text[equals + 1..]))),
        (None, _) => Ok(encode(text)),
    }
}

/// `NAME=TEXT` or `NAME=@FILE`, with `;type=` and `;filename=` after it.
fn part(text: &str, is_form: bool) -> Result<Part, Problem> {
    let (name, value) = text.split_once('=').ok_or_else(|| {
        Problem::new(format!("{} is no field of a form", quoted(text)), "write NAME=TEXT or NAME=@FILE")
    })?;
    let mut part = Part { name: name.to_owned(), ..Part::default() };
    if !is_form {
        part.text = Some(value.to_owned());
        return Ok(part);
    }
    let mut pieces = value.split(';');
    let mut content = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.trim_start().split_once('=') {
            Some(("type", media)) => part.content_type = Some(media.to_owned()),
            Some(("filename", file)) => part.filename = Some(unquoted(file)),
            // A semicolon of the text itself.
            _ => content = format!("{content};{piece}"),
        }
    }
    match content.chars().next() {
        Some('@') => part.file = Some(form_file(&content)?),
        Some('<') => {
            return Err(Problem::new(
                format!("-F {name}=<FILE, a text from a file, is not read"),
                "write the text itself, or @ for a file that is sent as a file",
            ));
        }
        _ => part.text = Some(unquoted(&content)),
    }
    Ok(part)
}

fn form_file(content: &str) -> Result<String, Problem> {
    let path = unquoted(&content[1..]);
    if path.is_empty() || path == "-" || path.contains(',') {
        return Err(Problem::new(
            format!("-F with {} is not read", quoted(content)),
            "name one file in each -F: NAME=@FILE",
        ));
    }
    Ok(path)
}

fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Seconds, with fractions.
fn max_time(text: &str) -> Result<Nanos, Problem> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= MAX_TIME_S);
    let seconds = seconds.ok_or_else(|| {
        Problem::new(format!("{} is no time of -m", quoted(text)), "write seconds, for example 2.5")
    })?;
    Ok(Nanos((seconds * 1e9).round() as u64))
}
