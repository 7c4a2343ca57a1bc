//! A single load (`prony load`). `words` and `parts` say it once; the other files give it its shape.

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod markdown;
mod messages;
mod notable;
mod part;
pub(crate) mod parts;
pub(crate) mod text;
pub(crate) mod words;
