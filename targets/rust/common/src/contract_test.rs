//! Asks a service the requests of `targets/contract`, in its own test binary and without a socket. For tests
//! only: a difference is a panic that says where. A key that this test does not know is one too, so that no
//! expectation is passed over.
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Seen from the folder of a target, where its tests run.
const FOLDER: &str = "../../contract";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    #[serde(rename = "schema")]
    _schema: String,
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(default, rename = "services")]
    _services: Vec<String>,
    requests: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    name: String,
    #[serde(default)]
    method: Option<String>,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    body_file: Option<PathBuf>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    status: Vec<u16>,
    /// Beginnings of values.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    json: Option<String>,
    /// By JSON pointer.
    #[serde(default)]
    json_equals: BTreeMap<String, Value>,
    #[serde(default)]
    sha256: Option<String>,
}

/// An answer whose body was read.
pub type Told = Response<Bytes>;

/// Reads the body of `answer`.
///
/// # Panics
/// The body breaks.
pub async fn told<B: Body<Error: Into<Box<dyn Error + Send + Sync>>>>(answer: Response<B>) -> Told {
    let (head, body) = answer.into_parts();
    let body = body.collect().await.map_err(Into::into).expect("a whole body").to_bytes();
    Response::from_parts(head, body)
}

/// Asks every request of the contract `name`.
///
/// # Panics
/// An answer differs, or the file cannot be read.
pub async fn check<F: Future<Output = Told>>(name: &str, ask: impl Fn(Request<Full<Bytes>>) -> F) {
    let path = format!("{FOLDER}/{name}.toml");
    let text = std::fs::read_to_string(&path).expect(&path);
    let contract: Contract = toml::from_str(&text).expect(&path);
    assert!(!contract.requests.is_empty(), "{path} asks nothing");
    for question in contract.requests {
        let answer = ask(question.request()).await;
        question.expect.check(&answer, &format!("{name} {}", question.name));
    }
}

impl Question {
    fn request(&self) -> Request<Full<Bytes>> {
        let body = match &self.body_file {
            Some(file) => std::fs::read(PathBuf::from(FOLDER).join(file)).expect("a body"),
            None => self.body.clone().into_bytes(),
        };
        let method: Method = self.method.as_deref().unwrap_or("GET").parse().expect("a method");
        let mut request = Request::builder().method(method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(body.into())).expect("a request")
    }
}

impl Expect {
    fn check(&self, answer: &Told, which: &str) {
        let body = String::from_utf8_lossy(answer.body());
        let status = answer.status().as_u16();
        assert!(self.status.contains(&status), "{which}: {status}, not {:?}: {body:.200}", self.status);
        for (name, begin) in &self.headers {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
            assert!(value.starts_with(begin.as_str()), "{which}: {name} is {value:?}, not {begin:?}");
        }
        if let Some(sha256) = &self.sha256 {
            assert_eq!(&hex::encode(Sha256::digest(answer.body())), sha256, "{which}");
        }
        if let Some(json) = &self.json {
            assert_eq!(parse(&body, which), parse(json, which), "{which}");
        }
        for (pointer, want) in &self.json_equals {
            assert_eq!(parse(&body, which).pointer(pointer), Some(want), "{which}: {pointer}");
        }
    }
}

fn parse(text: &str, which: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{which}: {error}: {text:.200}"))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn checked(expect: &str, answer: &'static str) -> bool {
        let expect: Expect = toml::from_str(expect).unwrap();
        let answer =
            Response::builder().header("Content-Type", "text/plain").body(Bytes::from(answer)).unwrap();
        catch_unwind(AssertUnwindSafe(|| expect.check(&answer, "planted"))).is_ok()
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let sha256 = hex::encode(Sha256::digest(b"{\"a\":1}"));
        let cases = [
            ("", "", true),
            ("headers = { Content-Type = 'text/' }", "", true),
            ("headers = { Content-Type = 'application/' }", "", false),
            ("headers = { Missing = 'x' }", "", false),
            ("json = '{\"a\":1}'", "{\"a\":1}", true),
            ("json = '{\"a\":1}'", "{\"a\":2}", false),
            ("json = '{\"a\":1}'", "x", false),
            ("json_equals = { '/a' = 1 }", "{\"a\":1}", true),
            ("json_equals = { '/a' = 1 }", "{\"b\":1}", false),
        ];
        for (expect, answer, same) in cases {
            assert_eq!(checked(&format!("status = [200]\n{expect}"), answer), same, "{expect} {answer}");
        }
        assert!(checked(&format!("status = [200]\nsha256 = '{sha256}'"), "{\"a\":1}"));
        assert!(!checked(&format!("status = [200]\nsha256 = '{sha256}'"), "{\"a\":2}"));
        assert!(!checked("status = [404]", ""));
    }
}
