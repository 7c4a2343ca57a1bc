//! Lua's errors as [`ScriptError`]: the place taken out of the message or, where it has none, out of the traceback.
//!
//! Absent on purpose: the traceback itself. A user's script is rarely deeper than its line says.

use request::script::ScriptError;

/// Name of the prelude's chunk in messages; its lines mean nothing to a user.
pub(crate) const PRELUDE: &str = "[wrk]";

/// An error that is not Lua's own: the file as a whole is wrong.
pub(crate) fn whole(file: &str, message: impl Into<String>) -> ScriptError {
    ScriptError { file: file.to_owned(), line: None, message: message.into() }
}

/// The place and cause of `error`, thrown by the script `file` or what it called.
pub(crate) fn locate(file: &str, error: &mlua::Error) -> ScriptError {
    let (text, traceback) = parts(error);
    let placed = split(file, &text);
    let (at, line, message) = match &placed {
        Some((at, line, message)) if at != PRELUDE => (at.clone(), Some(*line), *message),
        other => {
            let message = other.as_ref().map_or(text.as_str(), |(_, _, message)| *message);
            (file.to_owned(), line_in(file, &traceback), message)
        }
    };
    ScriptError { file: at, line, message: message.to_owned() }
}

/// Message and traceback; the cause where Rust code threw.
fn parts(error: &mlua::Error) -> (String, String) {
    match error {
        mlua::Error::SyntaxError { message, .. } => (message.clone(), String::new()),
        mlua::Error::RuntimeError(text) => match text.split_once("\nstack traceback:") {
            Some((message, traceback)) => (message.to_owned(), traceback.to_owned()),
            None => (text.clone(), String::new()),
        },
        mlua::Error::CallbackError { traceback, cause } => {
            let (message, inner) = parts(cause);
            (message, if inner.is_empty() { traceback.clone() } else { inner })
        }
        mlua::Error::BadArgument { cause, .. } => parts(cause),
        other => (other.to_string(), String::new()),
    }
}

/// Takes `FILE:LINE: ` off the front. `FILE` must look like a chunk's name: messages may begin with `host:port:`.
fn split<'a>(file: &str, text: &'a str) -> Option<(String, u32, &'a str)> {
    text.match_indices(':').find_map(|(at, _)| {
        let (name, rest) = (&text[..at], &text[at + 1..]);
        let (line, message) = rest.split_once(':')?;
        let line = line.parse().ok()?;
        let name = full(file, name)?;
        Some((name, line, message.trim_start()))
    })
}

/// The name of a chunk as the user knows it; Lua shows only the end of a long one.
fn full(file: &str, name: &str) -> Option<String> {
    match name.strip_prefix("...") {
        _ if name == file || name == PRELUDE => Some(name.to_owned()),
        Some(end) if !end.is_empty() && file.ends_with(end) => Some(file.to_owned()),
        _ if name.ends_with(".lua") || name.starts_with("[string ") => Some(name.to_owned()),
        _ => None,
    }
}

/// The innermost line of the script in a traceback.
fn line_in(file: &str, traceback: &str) -> Option<u32> {
    traceback.lines().find_map(|line| {
        let (name, line, _) = split(file, line.trim_start())?;
        (name == file).then_some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let long = format!("{}/s.lua", "d".repeat(80));
        let cases = [
            ("a.lua", "a.lua:3: boom", Some(3), "boom"),
            ("a.lua", "a.lua:3: boom\nstack traceback:\n\ta.lua:9: x", Some(3), "boom"),
            ("a.lua", "[wrk]:7: bad\nstack traceback:\n\t[wrk]:7: in x\n\ta.lua:9: in y", Some(9), "bad"),
            (
                "a.lua",
                "plain\nstack traceback:\n\t[C]: in function 'error'\n\ta.lua:5: in z",
                Some(5),
                "plain",
            ),
            ("a.lua", "h:80: refused", None, "h:80: refused"),
            (long.as_str(), "...dddd/s.lua:4: deep", Some(4), "deep"),
        ];
        for (file, text, line, message) in cases {
            let error = locate(file, &mlua::Error::RuntimeError(text.into()));
            assert_eq!((error.file.as_str(), error.line, error.message.as_str()), (file, line, message));
        }
        let module = locate("a.lua", &mlua::Error::RuntimeError("./m.lua:2: no".into()));
        assert_eq!(module.to_string(), "./m.lua:2: no", "a module's own file is named");
    }
}
