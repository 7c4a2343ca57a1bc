//! The subjects of a bus, one family for what goes to an agent and one for what comes from it, so that a server can give
//! each agent the rights to its own: it hears `prony.agent.NAME.>` and says `prony.controller.NAME.>` and answers. A name is
//! one token: those in certificates have no dot and no sign that means more than itself (`fleet::check_name`).

use std::fmt::Display;

/// Longest name of a stream.
const ID_MAX: usize = 64;

/// Where an agent hears that a controller wants a stream.
pub(crate) fn open(agent: &str) -> String {
    to_agent(agent, "open")
}

/// Pieces on the way to an agent.
pub(crate) fn to_agent(agent: &str, stream: impl Display) -> String {
    format!("prony.agent.{agent}.{stream}")
}

/// Pieces on the way to a controller.
pub(crate) fn to_controller(agent: &str, stream: impl Display) -> String {
    format!("prony.controller.{agent}.{stream}")
}

/// Whether a text can name a stream: one token, and not the one of [`open`].
pub(crate) fn is_stream(text: &str) -> bool {
    (8..=ID_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_token_names_no_stream() {
        assert!(is_stream("Ab3dEf7h"));
        for text in ["", "open", "a.b.c.d.e", "abcdefg*", "abcdefg>", "abc defgh", &"a".repeat(65)] {
            assert!(!is_stream(text), "{text}");
        }
    }
}
