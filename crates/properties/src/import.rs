//! Other tools' inputs: any text is a scenario that reads back from TOML, compiles and sends what was written, or an
//! error with cause, remedy and a line of the text.
//!
//! Input: one byte (format, and in its upper half whether a session and whether an origin is asked for), then the text.

use crate::Broken;
use import::{Format, ImportError, Imported, Options, import, to_toml};
use plan::net::HttpUrl;
use request::Traffic;
use schema::plan::{EntryPlan, RequestPlan, ScenarioPlan};
use schema::scenario::{NamedRequest, ScenarioFile};
use schema::text::parse_toml;
use std::collections::BTreeSet;
use units::Seed;

const FILE: &str = "fuzzed.txt";
/// Requests that are also made; equal parts of many requests show nothing new.
const MADE_MAX: usize = 8;

/// Imports a text, as [`import()`] does.
pub type Importer = dyn Fn(Format, &str, &Options) -> Result<Imported, ImportError>;

/// The property of the target `import`.
///
/// # Errors
/// A scenario that prony cannot read or send, other requests than were written, or an error that does not help.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &|format, text, options| import(format, "fuzzed", FILE, text, options))
}

/// [`check`] of any importer.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], importer: &Importer) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((0, input), |(choice, bytes)| (*choice, bytes));
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    let format = Format::ALL[usize::from(choice & 0x0f) % Format::ALL.len()];
    let options = Options {
        session: choice & 0x10 != 0,
        origin: (choice & 0x20 != 0).then(|| "http://127.0.0.1:8080".to_owned()),
        all_origins: choice & 0x70 == 0x40,
        group: None,
    };
    match importer(format, text, &options) {
        Ok(imported) => {
            survives_toml(&imported.scenario)?;
            one_origin(&imported)?;
            unique_names(&imported.scenario)?;
            let has_variables = matches!(format, Format::Jmeter | Format::Postman | Format::K6);
            let mut requests = imported.scenario.requests.iter().take(MADE_MAX);
            requests.try_for_each(|request| sends_what_was_written(request, has_variables))
        }
        Err(error) => {
            let helps = !error.cause.trim().is_empty() && !error.remedy.trim().is_empty();
            let is_clean = !error.to_string().chars().any(|c| c.is_control() && c != '\n');
            Broken::unless(helps && is_clean, || format!("no cause, no remedy, or unclean: {error:?}"))?;
            let lines = text.split('\n').count();
            let within = error.line.is_none_or(|line| (1..=lines).contains(&line));
            Broken::unless(within, || format!("no such line among {lines}: {error:?}"))
        }
    }
}

fn survives_toml(scenario: &ScenarioFile) -> Result<(), Broken> {
    let text = to_toml(scenario);
    let again: ScenarioFile =
        parse_toml(FILE, &text).map_err(|error| Broken(format!("{error}, written as {text}")))?;
    let value = |scenario: &ScenarioFile| serde_json::to_value(scenario).unwrap_or_default();
    Broken::unless(value(&again) == value(scenario), || format!("reads back differently: {text}"))
}

/// The origin is one that `prony load` takes.
fn one_origin(imported: &Imported) -> Result<(), Broken> {
    let url = HttpUrl::parse(&imported.origin).map_err(|error| Broken(error.to_string()))?;
    let expected = format!("{}://", url.scheme.name());
    let port = format!(":{}", url.port);
    Broken::unless(imported.origin.starts_with(&expected) && imported.origin.ends_with(&port), || {
        format!("{} is read as {url:?}", imported.origin)
    })
}

fn unique_names(scenario: &ScenarioFile) -> Result<(), Broken> {
    let names: BTreeSet<&str> = scenario.requests.iter().map(|request| request.name.as_str()).collect();
    Broken::unless(names.len() == scenario.requests.len() && !names.is_empty(), || {
        format!("names {names:?}")
    })?;
    let steps = scenario.session.iter().flat_map(|session| session.steps.iter().flatten());
    let unknown = steps.into_iter().find(|step| !names.contains(step.as_str()));
    Broken::unless(unknown.is_none(), || format!("no such step: {unknown:?} of {names:?}"))
}

/// The request compiles, has no expression, and its path is sent as it stands.
/// But for variables of JMeter, Postman and k6, which become expressions whose values only a load has.
fn sends_what_was_written(request: &NamedRequest, has_variables: bool) -> Result<(), Broken> {
    // What a call sends is known only with its files.
    if request.body_file.is_some() || request.multipart.is_some() || request.grpc.is_some() {
        return Ok(());
    }
    let body = request.body.clone().unwrap_or_default();
    let method = request
        .method
        .clone()
        .unwrap_or_else(|| if request.body.is_some() { "POST" } else { "GET" }.to_owned());
    let headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let texts = || headers.iter().map(|(_, value)| value).chain([&request.path, &body]);
    let is_template = texts().any(|text| text.contains("${"));
    if has_variables && texts().any(|text| text.replace("$${", "").contains("${")) {
        return Ok(());
    }
    let written = RequestPlan { method, path: request.path.clone(), headers, body: body.into_bytes() };
    let line = format!("{} {} HTTP/1.1\r\n", written.method, request.path.replace("$${", "${"));
    let entry = EntryPlan {
        name: request.name.clone(),
        weight: 1.0,
        request: written,
        is_template,
        ..EntryPlan::default()
    };
    let plan = ScenarioPlan { name: "fuzzed".to_owned(), requests: vec![entry], ..ScenarioPlan::default() };
    let traffic = Traffic::new(&plan, "h:1", Seed(1), &[])
        .map_err(|error| Broken(format!("imported, but not sent: {error}: {request:?}")))?;
    let sent = traffic.framed().lasting_bytes();
    Broken::unless(sent.starts_with(line.as_bytes()), || {
        format!("{:?} instead of {line:?}", String::from_utf8_lossy(&sent))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: &[u8] = b"\x02http://127.0.0.1:8080/a?b=${c}\nhttp://127.0.0.1:8080/d POST x=1\n";

    #[test]
    fn usual_texts_hold() {
        let vegeta = b"\x10GET http://[::1]:8080/a\nX-A: $${b}\n\nPOST http://[::1]:8080/\n@body.json\n";
        let lists: [&[u8]; 4] = [b"", b"\x02", b"\x02http://127.0.0.1:8080/a${\n", b"\x22/a/b\n"];
        for input in [URLS, vegeta].into_iter().chain(lists) {
            assert_eq!(check(input), Ok(()), "{}", String::from_utf8_lossy(input));
        }
    }

    /// Collections, documents and scripts: what is whole, what is broken, and what is hostile.
    #[test]
    fn collections_documents_and_scripts_hold() {
        let item = |url: &str| format!("\x06{{\"item\":[{{\"name\":\"a\",\"request\":\"{url}\"}}]}}");
        let operation = |path: &str| {
            format!(
                "\x07{{\"openapi\":\"3.0.0\",\"servers\":[{{\"url\":\"http://h\"}}],\"paths\":{{\"{path}\":{{\"get\":{{}}}}}}}}"
            )
        };
        let script = |code: &str| format!("\x08export default function () {{ {code} }}");
        let whole = ["http://h/a?b=${c}", "http://h/{{x}}", "http://h/\u{202e}", "{{$guid}}", "http://h/{{$guid}}", "h.test/a b"]
            .map(item)
            .into_iter()
            .chain(["/a", "/${b}", "/a b#c", "/{id}", "a"].map(operation))
            .chain(
                [
                    "http.get('http://h/${x}')",
                    "http.get(`http://h/${uuidv4()}/$${1}`)",
                    "const r = http.get('http://h/'); http.post(`http://h/${r.json('a.b')}`, r.json('c'), { headers: { a: r.headers.b } })",
                    "http.batch([['GET', 'http://h/'], 'http://h/\\u0000'])",
                    "http.get('http://h/', { headers: { 'a b': 'c' } }); sleep(1e400)",
                    "`${",
                ]
                .map(script),
            );
        for input in whole.chain(["\x06", "\x07{}", "\x08", "\x28http.get('/a')", "\x18}"].map(str::to_owned))
        {
            assert_eq!(check(input.as_bytes()), Ok(()), "{input}");
        }
    }

    #[test]
    fn plans_of_jmeter_hold() {
        let plan = |inner: &str| {
            format!(
                "\x05<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><ThreadGroup testname=\"g\"/>\
                 <hashTree><HTTPSamplerProxy testname=\"s\"><stringProp name=\"HTTPSampler.domain\">h</stringProp>\
                 <stringProp name=\"HTTPSampler.path\">{inner}</stringProp></HTTPSamplerProxy><hashTree/></hashTree>\
                 </hashTree></hashTree></jmeterTestPlan>"
            )
        };
        let plans =
            ["/a", "/a?b=${c}", "/${__UUID}", "/a b#c", "", "http://h:1/", "/\u{202e}", "${__P(x,/y)}"]
                .map(plan);
        for input in plans.iter().map(String::as_str).chain([
            "\x05",
            "\x05<a>",
            "\x05<jmeterTestPlan/>",
            "\x15<!DOCTYPE x>",
        ]) {
            assert_eq!(check(input.as_bytes()), Ok(()), "{input}");
        }
    }

    #[test]
    fn importers_that_err_are_caught() {
        let text = b"\x02http://127.0.0.1:8080/a\nhttp://127.0.0.1:8080/b\n";
        let spoils: [fn(&mut Imported); 4] = [
            |imported| imported.scenario.requests[0].path = "/${uuid4()}".to_owned(),
            |imported| imported.scenario.requests[0].path = "no path".to_owned(),
            |imported| imported.scenario.requests[0].name = imported.scenario.requests[1].name.clone(),
            |imported| imported.origin = "http://127.0.0.1".to_owned(),
        ];
        for (index, spoil) in spoils.into_iter().enumerate() {
            assert_eq!(check(text), Ok(()));
            let spoilt = move |format: Format, text: &str, options: &Options| {
                import(format, "fuzzed", FILE, text, options).map(|mut imported| {
                    spoil(&mut imported);
                    imported
                })
            };
            assert!(check_with(text, &spoilt).is_err(), "{index}");
        }
        for (line, remedy) in [(Some(9), "mend it"), (None, ""), (None, "mend\x1b it")] {
            let curt = move |_: Format, _: &str, _: &Options| {
                let (file, cause) = (FILE.to_owned(), "no".to_owned());
                Err(ImportError { file, line, cause, remedy: remedy.to_owned() })
            };
            assert!(check_with(text, &curt).is_err(), "{line:?} {remedy:?}");
        }
    }
}
