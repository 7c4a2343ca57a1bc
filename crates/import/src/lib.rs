//! Other tools' inputs as scenario files: vegeta targets, URL lists of siege and h2load, curl command lines, HAR, test
//! plans of JMeter, configurations of ghz, collections of Postman, documents of OpenAPI, scripts of k6.
//!
//! Invariants: one import has one origin; equal requests are merged, their number becoming the weight; every request
//! has a unique name; what is left out is counted in a note; text of the foreign file never becomes an expression
//! (`${` is written `$${`), but for the variables and functions of JMeter, Postman and k6 that have an equal; what does not fit is refused with its line, cause and remedy. A file is read from one
//! text, in which the answers of a HAR are skipped, not copied.
//! Absent on purpose: files (callers hand in texts and write the results), defaults of the load, and any wish to be
//! a shell: a command line with variables or pipes is refused.

mod assemble;
mod curl;
mod detect;
mod draft;
mod error;
mod ghz;
mod har;
mod imported;
mod jmeter;
mod k6;
mod notes;
mod openapi;
mod postman;
mod steps;
mod texts;
mod url;
mod urls;
mod vegeta;
mod write;

pub use detect::detect;
pub use error::ImportError;
pub use imported::{Imported, Options};
pub use write::to_toml;

use assemble::Assembler;
use error::Problem;
use std::fmt;
use std::str::FromStr;

/// A format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Targets of vegeta, HTTP format: `METHOD URL`, header lines, `@BODYFILE`.
    Vegeta,
    /// Targets of vegeta, JSON format: one object a line.
    VegetaJson,
    /// One URL a line, as siege and `h2load -i` read them; siege's variables and `POST`.
    Urls,
    /// One or several `curl` command lines.
    Curl,
    /// An HTTP archive (HAR 1.2), as browsers export it.
    Har,
    /// A test plan of JMeter 5 (`.jmx`).
    Jmeter,
    /// A configuration of ghz, JSON or TOML.
    Ghz,
    /// A collection of Postman, v2.0 or v2.1.
    Postman,
    /// A document of OpenAPI 3, as JSON.
    Openapi,
    /// A script of k6.
    K6,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Vegeta,
        Self::VegetaJson,
        Self::Urls,
        Self::Curl,
        Self::Har,
        Self::Jmeter,
        Self::Ghz,
        Self::Postman,
        Self::Openapi,
        Self::K6,
    ];

    /// The name on command lines.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Vegeta => "vegeta",
            Self::VegetaJson => "vegeta-json",
            Self::Urls => "urls",
            Self::Curl => "curl",
            Self::Har => "har",
            Self::Jmeter => "jmeter",
            Self::Ghz => "ghz",
            Self::Postman => "postman",
            Self::Openapi => "openapi",
            Self::K6 => "k6",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// A name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no format; use one of: vegeta, vegeta-json, urls, curl, har, jmeter, ghz, postman, openapi, k6"
)]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(key: &str) -> Result<Self, UnknownFormat> {
        let format = Self::ALL.into_iter().find(|format| format.key() == key);
        format.ok_or_else(|| UnknownFormat(key.to_owned()))
    }
}

/// Turns `text`, the content of `file`, into a scenario called `name`.
///
/// # Errors
/// Text that is not of the format, requests that cannot be sent (with their line where it is known), no request at
/// all, more than 5,000 different ones, or more than 20,000 steps of a session.
pub fn import(
    format: Format,
    name: &str,
    file: &str,
    text: &str,
    options: &Options,
) -> Result<Imported, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = || -> Result<Imported, Problem> {
        let mut assembler = Assembler::new(options)?;
        match format {
            Format::Vegeta => vegeta::http(text, &mut assembler)?,
            Format::VegetaJson => vegeta::json(text, &mut assembler)?,
            Format::Urls => urls::read(text, &mut assembler)?,
            Format::Curl => curl::read(text, &mut assembler)?,
            Format::Har => har::read(text, &mut assembler, options.session)?,
            // They have names, checks and steps of their own, and nothing to merge.
            Format::Jmeter => return jmeter::read(name, text, description(format, file), options),
            Format::Ghz => return ghz::read(name, text, description(format, file)),
            Format::Postman => return postman::read(name, text, description(format, file), options),
            Format::Openapi => return openapi::read(name, text, description(format, file), options),
            Format::K6 => return k6::read(name, text, description(format, file), options),
        }
        assembler.finish(name, description(format, file))
    };
    read().map_err(|problem| problem.in_file(file))
}

fn description(format: Format, file: &str) -> String {
    let file: String = file.chars().filter(|char| !char.is_control()).take(100).collect();
    let what = match format {
        Format::Vegeta | Format::VegetaJson => "vegeta targets",
        Format::Urls => "URL list",
        Format::Curl => "curl command lines",
        Format::Har => "HAR",
        Format::Jmeter => "test plan of JMeter",
        Format::Ghz => "configuration of ghz",
        Format::Postman => "collection of Postman",
        Format::Openapi => "document of OpenAPI",
        Format::K6 => "script of k6",
    };
    format!("Imported from {file} ({what})")
}
