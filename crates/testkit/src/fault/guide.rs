//! The catalogue as the table of `docs/guides/fault-server.md`.

use super::{After, Ask, Entry, Fault, Unit};
use std::fmt::Write;

/// The table of every fault in Markdown, grouped, from the catalogue.
#[must_use]
pub fn guide_table() -> String {
    let mut text = String::new();
    let mut group = "";
    for entry in Fault::ALL.iter().map(|fault| fault.entry()) {
        if entry.group != group {
            group = entry.group;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n### {group}{}\n", heading_note(&entry));
            text += "| fault | the server | the request | the connection |\n|---|---|---|---|\n";
        }
        let request = match entry.class {
            None => "right".to_owned(),
            Some(class) => format!("`{class}`"),
        };
        let _ = writeln!(
            text,
            "| `{}`{} | {} | {request} | {} |",
            entry.name,
            ask_note(entry.ask),
            entry.about,
            after(entry.after)
        );
    }
    text
}

fn heading_note(entry: &Entry) -> &'static str {
    match (entry.unit, entry.tls) {
        (Unit::Listener, _) => " (the whole listener: no pattern)",
        (Unit::Connection, false) if entry.fault.is_http2() => {
            " (patterns count connections; needs HTTP/2 by prior knowledge)"
        }
        (Unit::Connection, true) => " (patterns count connections; needs https)",
        (Unit::Connection, false) => " (patterns count connections)",
        (Unit::Request, true) => " (needs https)",
        (Unit::Request, false) => "",
    }
}

const fn ask_note(ask: Ask) -> &'static str {
    match ask {
        Ask::Any => "",
        Ask::Head => " (ask with HEAD)",
        Ask::Call => " (ask with a call of gRPC)",
        Ask::LargeBody => " (ask with a body of 8 MiB)",
    }
}

fn after(after: After) -> String {
    match after {
        After::Kept => "is kept".to_owned(),
        After::Replaced => "is replaced".to_owned(),
        After::NextFails(class) => format!("the next request on it ends as `{class}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_holds_the_table_of_the_catalogue() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/fault-server.md");
        let guide = std::fs::read_to_string(path).unwrap();
        let (begin, end) = ("<!-- catalogue begins -->\n", "<!-- catalogue ends -->");
        let held = guide.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(table, _)| table);
        let fresh = guide_table() + "\n";
        if held == Some(&fresh) {
            return;
        }
        let Some((head, tail)) = guide.split_once(begin).zip(guide.split_once(end)) else {
            panic!("{path} has lost its marks `{begin}` and `{end}`");
        };
        if std::env::var_os("PRONY_WRITE_GUIDE").is_some() {
            std::fs::write(path, format!("{}{begin}{fresh}{end}{}", head.0, tail.1)).unwrap();
            return;
        }
        panic!("the table in {path} is not that of the catalogue; run this test with PRONY_WRITE_GUIDE=1");
    }
}
