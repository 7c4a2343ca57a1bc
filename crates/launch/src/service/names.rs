//! `{host}`, `{port}`, `{data}`, `{build}` and `{folder}` in commands and environment values of services.
//!
//! One pass from left to right; a name without a value stays, for who fills it in later.

use std::collections::BTreeMap;

/// What the names stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<(&'static str, String)>);

impl Names {
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    pub(super) fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(brace) = rest.find('{') {
            out.push_str(&rest[..brace]);
            rest = &rest[brace..];
            let known = self.0.iter().find(|(name, _)| rest.starts_with(name));
            let (name, value) = known.map_or(("{", "{"), |(name, value)| (name, value.as_str()));
            out.push_str(value);
            rest = &rest[name.len()..];
        }
        out.push_str(rest);
        out
    }

    pub(super) fn fill_all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.fill(text)).collect()
    }

    pub(super) fn fill_env(&self, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        env.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced_once_and_others_stay() {
        let names = Names::default().with("{data}", "/d/{port}").with("{host}", "h");
        assert_eq!(names.fill("{data}/x {host}:{port} {\"a\":{}}é{"), "/d/{port}/x h:{port} {\"a\":{}}é{");
    }
}
