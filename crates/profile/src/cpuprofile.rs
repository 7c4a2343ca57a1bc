//! V8's `.cpuprofile`: a tree of nodes, and which node was seen at each sample with the time since the last.
//!
//! What is idle is left out; `(program)` is native code, `(garbage collector)` the collector. The times are those of one
//! JavaScript thread, so they are its CPU time as far as it was not taken off the CPU.

use crate::folded::DEPTH_MAX;
use crate::{BYTES_MAX, Folded, ProfileError};
use schema::profile::ProfileUnit;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

#[derive(Deserialize)]
struct CpuProfile {
    nodes: Vec<Node>,
    #[serde(default)]
    samples: Vec<u64>,
    #[serde(default, rename = "timeDeltas")]
    time_deltas_us: Vec<i64>,
}

#[derive(Deserialize)]
struct Node {
    id: u64,
    #[serde(rename = "callFrame")]
    call_frame: CallFrame,
    #[serde(default)]
    children: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    function_name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: i64,
}

/// Reads a profile of V8.
///
/// # Errors
/// Bytes that are no such profile, or too many of them.
pub fn read(data: &[u8]) -> Result<Folded, ProfileError> {
    if data.len() > BYTES_MAX {
        return Err(ProfileError::too_long(BYTES_MAX));
    }
    let profile: CpuProfile = serde_json::from_slice(data).map_err(|error| {
        ProfileError::new(format!("no .cpuprofile of V8: {error}"), "take it again with --kind node")
    })?;
    let mut ns: BTreeMap<u64, u64> = BTreeMap::new();
    for (node, delta_us) in profile.samples.iter().zip(&profile.time_deltas_us) {
        let sum = ns.entry(*node).or_default();
        *sum = sum.saturating_add(u64::try_from(*delta_us).unwrap_or_default().saturating_mul(1_000));
    }
    let names: HashMap<u64, String> =
        profile.nodes.iter().map(|node| (node.id, name(&node.call_frame))).collect();
    let parents: HashMap<u64, u64> =
        profile.nodes.iter().flat_map(|node| node.children.iter().map(|child| (*child, node.id))).collect();
    let mut folded = Folded::new(ProfileUnit::CpuNs);
    for (node, value) in ns {
        // A circle of parents ends at the greatest depth.
        let path = std::iter::successors(Some(node), |node| parents.get(node).copied()).take(DEPTH_MAX + 1);
        let stack: Vec<&str> =
            path.map(|node| names.get(&node).map_or("[unknown]", String::as_str)).collect();
        let leaf = stack.first().copied().unwrap_or_default();
        let stack = stack.iter().copied().filter(|frame| *frame != "(root)");
        if leaf != "(idle)" {
            folded.add_leaf_first(stack, value);
        }
    }
    Ok(folded)
}

/// A function with its file and line, as V8 counts them from 0.
fn name(frame: &CallFrame) -> String {
    let function = if frame.function_name.is_empty() { "(anonymous)" } else { &frame.function_name };
    let file = frame.url.rsplit('/').next().unwrap_or_default();
    if file.is_empty() {
        return function.to_owned();
    }
    format!("{function} {file}:{}", frame.line_number.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_no_cpu_time_and_circles_end() {
        let frame =
            |name: &str| format!(r#"{{"functionName":"{name}","url":"file:///x/a.js","lineNumber":4}}"#);
        let text = format!(
            r#"{{"nodes":[
                {{"id":1,"callFrame":{{"functionName":"(root)"}},"children":[2,4]}},
                {{"id":2,"callFrame":{},"children":[3]}},
                {{"id":3,"callFrame":{}}},
                {{"id":4,"callFrame":{{"functionName":"(idle)"}}}}],
              "samples":[3,2,4,3],"timeDeltas":[10,20,1000,-5]}}"#,
            frame("outer"),
            frame("")
        );
        let folded = read(text.as_bytes()).unwrap();
        assert_eq!(folded.text(), "outer a.js:5 20000\nouter a.js:5;(anonymous) a.js:5 10000\n");
        let circle = text.replace(r#""id":3,"#, r#""id":3,"children":[2],"#);
        assert_eq!(read(circle.as_bytes()).unwrap().cut.deep, 2);
        assert!(read(b"{}").unwrap_err().cause.contains("nodes"));
    }
}
