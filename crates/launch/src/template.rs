//! `{host}`, `{port}`, `{build}` and `{folder}` in commands and environment values.
//!
//! One pass from left to right: what was put in is not looked at again, and any other brace stays as it is, so that
//! JSON or shell text in a command needs no quoting.

/// The names that are replaced.
const NAMES: [&str; 4] = ["{host}", "{port}", "{build}", "{folder}"];

/// What the names stand for; `None` leaves a name in place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Values<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) port: Option<&'a str>,
    pub(crate) build: Option<&'a str>,
    pub(crate) folder: Option<&'a str>,
}

impl Values<'_> {
    /// `text` with every known name replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(brace) = rest.find('{') {
            out.push_str(&rest[..brace]);
            rest = &rest[brace..];
            let name = NAMES.into_iter().find(|name| rest.starts_with(name)).unwrap_or("{");
            out.push_str(self.value(name).unwrap_or(name));
            rest = &rest[name.len()..];
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> Option<&str> {
        match name {
            "{host}" => self.host,
            "{port}" => self.port,
            "{build}" => self.build,
            "{folder}" => self.folder,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced_once() {
        let values = Values {
            host: Some("127.0.0.1"),
            port: Some("80"),
            build: Some("/x/{port}"),
            folder: Some("/f"),
        };
        for (text, expected) in [
            ("{host}:{port}", "127.0.0.1:80"),
            ("{build}/server", "/x/{port}/server"),
            ("{folder}/php.ini", "/f/php.ini"),
            ("{\"a\":{port}}{", "{\"a\":80}{"),
            ("{{port}}", "{80}"),
            ("${PORT} {ports}", "${PORT} {ports}"),
            ("é{port}é", "é80é"),
        ] {
            assert_eq!(values.fill(text), expected, "{text}");
        }
        assert_eq!(Values::default().fill("{build}/x"), "{build}/x");
    }
}
