//! Java Flight Recorder: what `jfr print --json --events jdk.ExecutionSample` writes.
//!
//! A sample is one thread that was running Java code when the sampler looked; the sampler looks at few threads at a
//! time, so samples are shares and not CPU time.

use crate::{BYTES_MAX, Folded, ProfileError};
use schema::profile::ProfileUnit;
use serde::Deserialize;

/// Most bytes of the JSON text, in which a frame takes half a KiB.
pub const TEXT_BYTES_MAX: usize = 4 * BYTES_MAX;

#[derive(Deserialize)]
struct File {
    recording: Recording,
}

#[derive(Deserialize)]
struct Recording {
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    values: Values,
}

#[derive(Deserialize)]
struct Values {
    #[serde(default, rename = "stackTrace")]
    stack: Option<Stack>,
}

#[derive(Deserialize)]
struct Stack {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    method: Option<Method>,
}

#[derive(Deserialize)]
struct Method {
    #[serde(rename = "type")]
    class: Option<Class>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Class {
    name: Option<String>,
}

/// Reads the execution samples.
///
/// # Errors
/// Text that is not of `jfr print --json`, or too much of it.
pub fn read(data: &[u8]) -> Result<Folded, ProfileError> {
    if data.len() > TEXT_BYTES_MAX {
        return Err(ProfileError::too_long(TEXT_BYTES_MAX));
    }
    let file: File = serde_json::from_slice(data).map_err(|error| {
        ProfileError::new(format!("no text of jfr print --json: {error}"), "take it again with --kind jfr")
    })?;
    let mut folded = Folded::new(ProfileUnit::Samples);
    let samples = file.recording.events.iter().filter(|event| event.kind == "jdk.ExecutionSample");
    for stack in samples.filter_map(|event| event.values.stack.as_ref()) {
        let names: Vec<String> = stack.frames.iter().take(crate::folded::DEPTH_MAX + 1).map(name).collect();
        folded.add_leaf_first(names.iter().map(String::as_str), 1);
    }
    Ok(folded)
}

fn name(frame: &Frame) -> String {
    let Some(method) = &frame.method else { return "[unknown]".to_owned() };
    let class = method.class.as_ref().and_then(|class| class.name.as_deref()).unwrap_or("?");
    format!("{}.{}", class.replace('/', "."), method.name.as_deref().unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_and_other_events_are_not() {
        let frame = |name: &str| {
            format!(r#"{{"method":{{"type":{{"name":"a/B"}},"name":"{name}"}},"lineNumber":3}}"#)
        };
        let stack = format!(
            r#"{{"truncated":false,"frames":[{},{},{{"method":null}}]}}"#,
            frame("leaf"),
            frame("root")
        );
        let event = |kind: &str, stack: &str| {
            format!(r#"{{"type":"{kind}","values":{{"state":"X","stackTrace":{stack}}}}}"#)
        };
        let events = [
            event("jdk.ExecutionSample", &stack),
            event("jdk.ExecutionSample", "null"),
            event("jdk.NativeMethodSample", &stack),
        ];
        let text = format!(r#"{{"recording":{{"events":[{}]}}}}"#, events.join(","));
        assert_eq!(read(text.as_bytes()).unwrap().text(), "[unknown];a.B.root;a.B.leaf 1\n");
        assert!(read(b"{\"recording\":{}}").unwrap_err().cause.contains("events"));
    }
}
