//! Sentences that prony says to people, by id: the English text, and what it takes to say the same in another language.
//!
//! A sentence is written where it is decided, by [`said!`](macro@crate::said): its id, its English text with named
//! places, and what fills them. `docs/sentences.json` lists all ids with their texts; a test makes that list from the
//! sources and keeps it fresh, and the page has no language in which one of them is missing, or it does not compile.
//!
//! Invariants: the id of a sentence never changes its meaning; `text` is the English sentence, whole; a [`Word`](Arg)
//! stays as it is in every language, a sentence within a sentence is translated, too. Where no id is given the text
//! comes from elsewhere (a file of an older prony, an error of the system) and stays English unless the page knows it.
//! Absent on purpose: other languages (the page has them), and arithmetic.

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

/// A sentence, or a part of one, with its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Said {
    /// Which sentence, as `docs/sentences.json` lists them; absent where the text comes from elsewhere.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(with = "String")]
    id: Cow<'static, str>,
    /// What stands in its places, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, Arg>")]
    args: BTreeMap<Cow<'static, str>, Arg>,
    /// In English.
    text: String,
}

/// What stands in one place of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Arg {
    /// A number with its unit, or a name: the same in every language.
    Word(String),
    /// A sentence, or a part of one.
    Said(Said),
}

/// How the parts of a list are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `a, b`
    Comma,
    /// `a; b`
    Semicolon,
    /// `a and b`, `a, b and c`
    And,
    /// `A. B.`
    Space,
}

impl Joint {
    const fn id(self) -> &'static str {
        match self {
            Self::Comma => "list.comma",
            Self::Semicolon => "list.semicolon",
            Self::And => "list.and",
            Self::Space => "list.space",
        }
    }

    const fn english(self) -> &'static str {
        match self {
            Self::Comma => ", ",
            Self::Semicolon => "; ",
            Self::And => " and ",
            Self::Space => " ",
        }
    }
}

impl Said {
    /// For [`said!`](macro@crate::said): the text with what stands in its places. A vector, because a function of an
    /// array would be in the binary once for each number of places and each crate.
    #[must_use]
    pub fn new(id: &'static str, english: &str, args: Vec<(&'static str, Arg)>) -> Self {
        let mut text = String::with_capacity(english.len() + 16 * args.len());
        let mut rest = english;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            let arg = args.iter().find(|(known, _)| *known == name);
            debug_assert!(arg.is_some(), "{id} has a place {name} and nothing for it");
            text += before;
            text += arg.map_or("", |(_, arg)| arg.text());
            rest = after;
        }
        text += rest;
        let args = args.into_iter().map(|(name, arg)| (Cow::Borrowed(name), arg)).collect();
        Self { id: Cow::Borrowed(id), args, text }
    }

    /// A text that comes from elsewhere, without an id.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Several, one after the other. One alone is itself; none is empty.
    #[must_use]
    pub fn list<A: Into<Arg>>(joint: Joint, parts: impl IntoIterator<Item = A>) -> Self {
        let mut parts: Vec<Arg> = parts.into_iter().map(Into::into).collect();
        match parts.len() {
            0 => Self::default(),
            1 => parts.remove(0).into_said(),
            _ => {
                let texts: Vec<&str> = parts.iter().map(Arg::text).collect();
                let text = match joint {
                    Joint::And => units::format::listed(&texts),
                    _ => texts.join(joint.english()),
                };
                // So many digits that the names are in order, too.
                let name = |at: usize| Cow::Owned(format!("{at:03}"));
                let args = parts.into_iter().enumerate().map(|(at, part)| (name(at), part)).collect();
                Self { id: Cow::Borrowed(joint.id()), args, text }
            }
        }
    }

    /// Its id; empty where it has none.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Equal for sentences that say the same of other numbers and names: the ids of the sentence and of those in its
    /// places; the text where there is no id.
    #[must_use]
    pub fn kind(&self) -> String {
        if self.id.is_empty() {
            return self.text.clone();
        }
        let inner = self.args.values().filter_map(|arg| match arg {
            Arg::Said(said) => Some(said.kind()),
            Arg::Word(_) => None,
        });
        inner.fold(self.id.to_string(), |kind, inner| kind + "(" + &inner + ")")
    }

    /// In English.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands in one of its places, if it is a sentence, too.
    #[must_use]
    pub fn arg(&self, name: &str) -> Option<Self> {
        match self.args.get(name)? {
            Arg::Said(said) => Some(said.clone()),
            Arg::Word(_) => None,
        }
    }

    /// In English.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Arg {
    fn text(&self) -> &str {
        match self {
            Self::Word(text) => text,
            Self::Said(said) => &said.text,
        }
    }

    fn into_said(self) -> Said {
        match self {
            Self::Word(text) => Said::plain(text),
            Self::Said(said) => said,
        }
    }
}

/// A sentence by its id, its English text, and what stands in the places of that text.
///
/// As in `said!(ID, "the run ended after {ended} of {trials}", ended = 3, trials = count(5, Noun::Trial))`.
/// A place whose name is that of a variable needs no `=`. The test `sentences` refuses a name without a place, a place
/// without a name, and an id that stands twice with different texts.
#[macro_export]
macro_rules! said {
    ($id:literal, $english:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::said::Said::new($id, $english, ::std::vec![
            $((stringify!($name), $crate::said::Arg::from($crate::said!(@value $name $($value)?)))),*
        ])
    };
    (@value $name:ident $value:expr) => { $value };
    (@value $name:ident) => { $name };
}

impl Deref for Said {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for Said {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl From<Said> for String {
    fn from(said: Said) -> Self {
        said.text
    }
}

impl PartialEq<str> for Said {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for Said {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<Said> for Arg {
    fn from(said: Said) -> Self {
        Self::Said(said)
    }
}

/// A word alone is a text without an id.
impl From<Arg> for Said {
    fn from(arg: Arg) -> Self {
        arg.into_said()
    }
}

impl From<&Said> for Arg {
    fn from(said: &Said) -> Self {
        Self::Said(said.clone())
    }
}

/// Names and numbers.
macro_rules! word {
    ($($type:ty),*) => {
        $(impl From<$type> for Arg {
            fn from(word: $type) -> Self {
                Self::Word(word.to_string())
            }
        })*
    };
}

impl From<&Arg> for Arg {
    fn from(arg: &Arg) -> Self {
        arg.clone()
    }
}

word!(String, &String, &str, &&str, Cow<'_, str>, u32, u64, usize, i32, i64, f64, &u32, &u64, &usize, &f64);

/// A text of an older prony is a plain string.
impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Said;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object with `text`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Said, E> {
                Ok(Said::plain(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Said, A::Error> {
                #[derive(Deserialize)]
                struct Parts {
                    #[serde(default)]
                    id: String,
                    #[serde(default)]
                    args: BTreeMap<String, Arg>,
                    text: String,
                }
                let Parts { id, args, text } = Parts::deserialize(MapAccessDeserializer::new(map))?;
                let args = args.into_iter().map(|(name, arg)| (Cow::Owned(name), arg)).collect();
                Ok(Said { id: Cow::Owned(id), args, text })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_its_places_filled() {
        let trials = said!("test.trials", "{n} trials", n = 5);
        let ended = 3_u32;
        let said = said!("test.ended", "the run ended after {ended} of {trials}", ended, trials);
        assert_eq!(said, "the run ended after 3 of 5 trials");
        assert_eq!((said.id(), said!("test.bare", "no place").text()), ("test.ended", "no place"));
    }

    #[test]
    fn both_forms_are_read() {
        let inner = said!("test.inner", "{n} blocks", n = 2);
        let said = said!("test.outer", "{name}: {inner}", name = "a", inner);
        let json = serde_json::to_value(&said).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "id": "test.outer",
                "args": { "name": "a", "inner": { "id": "test.inner", "args": { "n": "2" }, "text": "2 blocks" } },
                "text": "a: 2 blocks",
            })
        );
        assert_eq!(serde_json::from_value::<Said>(json).unwrap(), said);
        let old: Said = serde_json::from_str(r#""as it was""#).unwrap();
        assert_eq!(old, Said::plain("as it was"));
        assert_eq!(serde_json::to_value(old).unwrap(), serde_json::json!({ "text": "as it was" }));
        for wrong in ["3", "{}", r#"{"id": "test.x"}"#, "[]"] {
            assert!(serde_json::from_str::<Said>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_keep_their_order() {
        let parts = || (0..12).map(|n: u64| n.to_string());
        let list = Said::list(Joint::Comma, parts());
        assert_eq!(list, parts().collect::<Vec<_>>().join(", ").as_str());
        assert_eq!(list.args.values().map(Arg::text).collect::<Vec<_>>(), parts().collect::<Vec<_>>());
        assert_eq!(Said::list(Joint::And, ["a"]), Said::plain("a"));
        assert_eq!(Said::list(Joint::And, ["a", "b", "c"]), "a, b and c");
        assert_eq!(Said::list(Joint::Semicolon, Vec::<Said>::new()), Said::default());
    }
}
