//! The subjects of a bus, one family for what goes to an agent and one for what comes from it, so that a server can give
//! each agent the rights to its own: it hears `prony.agent.NAME.>` and says `prony.controller.NAME.>` and answers.

use std::fmt::Display;

/// Longest name of a stream.
const ID_MAX: usize = 64;

/// Where an agent hears that a controller wants a stream.
pub(crate) fn open(agent: &str) -> String {
    to_agent(agent, "open")
}

/// Pieces on the way to an agent.
pub(crate) fn to_agent(agent: &str, stream: impl Display) -> String {
    format!("prony.agent.{}.{stream}", token(agent))
}

/// Pieces on the way to a controller.
pub(crate) fn to_controller(agent: &str, stream: impl Display) -> String {
    format!("prony.controller.{}.{stream}", token(agent))
}

/// Whether a text can name a stream: one token, and not the one of [`open`].
pub(crate) fn is_stream(text: &str) -> bool {
    (8..=ID_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A name as one token: names have dots, which part tokens, and no tilde.
fn token(agent: &str) -> String {
    agent.replace('.', "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_token() {
        assert_eq!(open("load-1"), "prony.agent.load-1.open");
        assert_eq!(to_agent("a.b", "x"), "prony.agent.a~b.x");
        assert_ne!(to_controller("a.b", "x"), to_controller("a", "b.x"));
    }

    #[test]
    fn what_is_no_token_names_no_stream() {
        assert!(is_stream("Ab3dEf7h"));
        for text in ["", "open", "a.b.c.d.e", "abcdefg*", "abcdefg>", "abc defgh", &"a".repeat(65)] {
            assert!(!is_stream(text), "{text}");
        }
    }
}
