//! Which format a file has, by its name and its first meaningful line.

use crate::{Format, k6, openapi, postman, urls, vegeta};

/// How much of a file is looked at; bounds the work, not the answer of any real file.
const LOOKED_AT_BYTES: usize = 16 << 10;

/// The format of a file, where its name or its begin says it.
#[must_use]
pub fn detect(file_name: &str, text: &str) -> Option<Format> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if file_name.to_ascii_lowercase().ends_with(".har") {
        return Some(Format::Har);
    }
    if file_name.to_ascii_lowercase().ends_with(".jmx") {
        return Some(Format::Jmeter);
    }
    let begin = &text[..text.floor_char_boundary(LOOKED_AT_BYTES)];
    if begin.trim_start().starts_with('{') {
        return json(begin);
    }
    if begin.trim_start().starts_with('<') {
        return begin.contains("<jmeterTestPlan").then_some(Format::Jmeter);
    }
    if file_name.to_ascii_lowercase().ends_with(".toml") {
        let is_call = |line: &str| {
            line.trim_start().strip_prefix("call").is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        return begin.lines().any(is_call).then_some(Format::Ghz);
    }
    if k6::is_script(begin) {
        return Some(Format::K6);
    }
    let line = begin.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let first = line.split_whitespace().find(|word| *word != "$")?;
    if first == "curl" || first == "curl.exe" {
        return Some(Format::Curl);
    }
    let url = |text: &str| {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("http" | "https"))
    };
    if vegeta::is_target(line) && url(line.split_whitespace().nth(1).unwrap_or_default()) {
        return Some(Format::Vegeta);
    }
    let is_list = url(first)
        || first.starts_with('/')
        || first.starts_with("$(")
        || urls::assignment(line).is_some()
        || is_host(first);
    is_list.then_some(Format::Urls)
}

/// An archive has its `log` first; a target has its URL in its first line.
fn json(begin: &str) -> Option<Format> {
    let first = begin.trim_start().lines().next().unwrap_or_default();
    let after_brace = begin.trim_start()[1..].trim_start();
    if after_brace.starts_with("\"log\"") {
        return Some(Format::Har);
    }
    if postman::is_collection(begin) {
        return Some(Format::Postman);
    }
    if openapi::is_document(begin) {
        return Some(Format::Openapi);
    }
    if first.contains("\"url\"") && first.contains("\"method\"") {
        return Some(Format::VegetaJson);
    }
    begin.contains("\"call\"").then_some(Format::Ghz)
}

/// `localhost:8080/x`, `www.example.com/x`: siege's URLs without a scheme.
fn is_host(word: &str) -> bool {
    let host = word.split(['/', ':', '?']).next().unwrap_or_default();
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-');
    is_name && (host == "localhost" || (host.contains('.') && !host.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_name_and_begin() {
        for (name, text, format) in [
            ("x.har", "", Some(Format::Har)),
            ("-", "{\n  \"log\": {", Some(Format::Har)),
            ("Plan.JMX", "", Some(Format::Jmeter)),
            ("-", "<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">", Some(Format::Jmeter)),
            ("page.html", "<html>", None),
            ("t.json", "{\"method\":\"GET\",\"url\":\"http://h/\"}\n", Some(Format::VegetaJson)),
            ("t.txt", "# targets\n\nGET http://h/\n", Some(Format::Vegeta)),
            ("t.txt", "http://h/\nhttp://h/b\n", Some(Format::Urls)),
            ("t.txt", "HTTP://h/\n", Some(Format::Urls)),
            ("t.txt", "HOST = h\nhttp://$(HOST)/\n", Some(Format::Urls)),
            ("t.txt", "www.example.com/a POST x=1\n", Some(Format::Urls)),
            ("t.txt", "/a\n/b\n", Some(Format::Urls)),
            ("t.sh", "# from the browser\n$ curl 'http://h/'\n", Some(Format::Curl)),
            ("g.json", "{\n  \"call\": \"p.S/M\"", Some(Format::Ghz)),
            ("g.toml", "proto = \"p.proto\"\ncall = \"p.S/M\"\n", Some(Format::Ghz)),
            ("x.toml", "a = 1\n", None),
            ("c.json", "{\n\t\"info\": {\n\t\t\"_postman_id\": \"x\",", Some(Format::Postman)),
            ("api.json", "{\n  \"openapi\": \"3.0.3\",", Some(Format::Openapi)),
            ("s.js", "// a\nimport http from 'k6/http';\n", Some(Format::K6)),
            ("t.txt", "hello world\n", None),
            ("t.json", "{\"a\":1}", None),
            ("t.txt", "", None),
        ] {
            assert_eq!(detect(name, text), format, "{text:?}");
        }
    }
}
