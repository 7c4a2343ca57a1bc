//! Kinds of requests in a log: those of one method and media type are one request of the scenario.

use crate::write::quoted;

/// Kinds that a scenario may have; requests of further ones are left out.
pub(super) const KINDS_MAX: usize = 64;

/// What all rows of a request in the scenario share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    method: String,
    content_type: Option<String>,
    has_body: bool,
}

impl Kind {
    /// `None` where the method or the media type is none that can be sent.
    pub(super) fn new(method: &[u8], content_type: Option<&[u8]>, has_body: bool) -> Option<Self> {
        let method = std::str::from_utf8(method).ok()?;
        let is_visible = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let content_type = match content_type {
            Some(text) if has_body => {
                Some(std::str::from_utf8(text).ok().filter(|text| is_visible(text))?.to_owned())
            }
            _ => None,
        };
        Some(Self { method: method.to_owned(), content_type, has_body })
    }

    /// What the rows call it, and the report.
    pub(super) fn name(&self) -> String {
        match (&self.content_type, self.has_body) {
            (Some(content_type), _) => format!("{} {content_type}", self.method),
            (None, true) => format!("{} with a body", self.method),
            (None, false) => self.method.clone(),
        }
    }

    /// Its part of the scenario; `codes` are further status codes that are right.
    pub(super) fn request_text(&self, codes: &str) -> String {
        let mut text = format!(
            "\n[[requests]]\nname = {}\nmethod = {}\npath = \"${{log.path}}\"\n\
             expect = {{ status = [\"200-399\"{codes}] }}\n",
            quoted(&self.name()),
            quoted(&self.method)
        );
        if self.has_body {
            text += "body = \"${log.body}\"\n";
        }
        if let Some(content_type) = &self.content_type {
            text +=
                &format!("headers = {{ Content-Type = {} }}\n", quoted(&content_type.replace("${", "$${")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_says_stays_text() {
        let kind = Kind::new(b"POST", Some(b"text/${x}\"; a=1"), true).unwrap();
        let text = kind.request_text("");
        let file = schema::scenario::ScenarioFile::from_toml(
            "s.toml",
            &format!("schema = \"prony.scenario/1\"\nname = \"x\"\n{text}"),
        );
        let request = &file.unwrap().requests[0];
        assert_eq!(request.headers["Content-Type"], "text/$${x}\"; a=1");
        assert_eq!(
            (request.name.as_str(), request.body.as_deref()),
            ("POST text/${x}\"; a=1", Some("${log.body}"))
        );
        assert!(Kind::new(b"POST", Some(b"a\nb"), true).is_none(), "it would break the framing");
        assert_eq!(Kind::new(b"GET", Some(b"a\nb"), false).unwrap().name(), "GET");
    }
}
