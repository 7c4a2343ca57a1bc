//! Go's profiles: gzip around the protobuf of `profile.proto` (google/pprof). Only the fields that stacks need.
//!
//! | sample type of Go | unit here |
//! |---|---|
//! | cpu/nanoseconds | CPU time |
//! | alloc_space, inuse_space | bytes |
//! | alloc_objects, inuse_objects | objects |
//! | delay/nanoseconds | blocked |
//! | goroutine/count | goroutines |
//!
//! Negative values, which a difference of two heap profiles can have, count as 0.

use crate::folded::{DEPTH_MAX, NAME_BYTES_MAX};
use crate::{Folded, ProfileError, bounded};
use prost::Message;
use schema::profile::ProfileUnit;
use std::collections::HashMap;

/// Most bytes after decompression: in memory the messages are many times as large.
const BYTES_MAX: usize = 16 << 20;
/// A frame without a name.
const UNKNOWN: &str = "[unknown]";

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_table: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

/// One of the values that a profile's samples have.
#[derive(Clone, Debug)]
pub struct SampleType {
    /// Its name, for example `inuse_space`.
    pub name: String,
    /// Its stacks.
    pub folded: Folded,
}

/// Reads the sample types that have a unit here.
///
/// # Errors
/// Bytes that are no such profile, too many of them, or none of the known sample types.
pub fn read(data: &[u8]) -> Result<Vec<SampleType>, ProfileError> {
    let plain = bounded::unzipped(data, BYTES_MAX)?;
    let profile = Profile::decode(plain.as_slice()).map_err(|error| {
        ProfileError::new(
            format!("no profile of Go: {error}"),
            "ask the endpoint without debug=1, which is text",
        )
    })?;
    // One byte more than fits, so that it shows that a name was cut.
    let short =
        |bytes: &Vec<u8>| String::from_utf8_lossy(&bytes[..bytes.len().min(NAME_BYTES_MAX + 1)]).into_owned();
    let strings: Vec<String> = profile.string_table.iter().map(short).collect();
    let text =
        |index: i64| usize::try_from(index).ok().and_then(|at| strings.get(at)).map_or("", String::as_str);
    let frames = frames(&profile, &text);
    let known = profile.sample_type.iter().enumerate().filter_map(|(at, kind)| {
        let name = text(kind.kind);
        unit_of(name, text(kind.unit)).map(|unit| (at, name.to_owned(), unit))
    });
    // More than Go ever gives would only be more work.
    let types: Vec<SampleType> = known
        .take(4)
        .map(|(at, name, unit)| SampleType { name, folded: folded(&profile, &frames, at, unit) })
        .collect();
    if types.is_empty() {
        let cause = "the profile has no sample type that prony knows";
        return Err(ProfileError::new(cause, "name a path of Go's net/http/pprof"));
    }
    Ok(types)
}

fn unit_of(name: &str, unit: &str) -> Option<ProfileUnit> {
    match (name, unit) {
        ("cpu", "nanoseconds") => Some(ProfileUnit::CpuNs),
        ("alloc_space" | "inuse_space", "bytes") => Some(ProfileUnit::Bytes),
        ("alloc_objects" | "inuse_objects", "count") => Some(ProfileUnit::Objects),
        ("delay", "nanoseconds") => Some(ProfileUnit::BlockedNs),
        ("goroutine" | "goroutines", "count") => Some(ProfileUnit::Goroutines),
        _ => None,
    }
}

/// The names of each location, innermost inlined function first; none where it has no symbols.
fn frames<'a>(profile: &Profile, text: &impl Fn(i64) -> &'a str) -> HashMap<u64, Vec<&'a str>> {
    let names: HashMap<u64, &str> =
        profile.function.iter().map(|function| (function.id, text(function.name))).collect();
    let of = |location: &Location| -> Vec<&'a str> {
        let inlined = location.line.iter().take(DEPTH_MAX);
        let known = inlined.map(|line| names.get(&line.function_id).copied().unwrap_or_default());
        let known: Vec<&str> = known.collect();
        if known.is_empty() { vec![UNKNOWN] } else { known }
    };
    profile.location.iter().map(|location| (location.id, of(location))).collect()
}

fn folded(profile: &Profile, frames: &HashMap<u64, Vec<&str>>, at: usize, unit: ProfileUnit) -> Folded {
    let mut folded = Folded::new(unit);
    let unknown = vec![UNKNOWN];
    for sample in &profile.sample {
        let value =
            sample.value.get(at).copied().and_then(|value| u64::try_from(value).ok()).unwrap_or_default();
        let stack = sample.location_id.iter().flat_map(|id| frames.get(id).unwrap_or(&unknown));
        folded.add_leaf_first(stack.copied(), value);
    }
    folded
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile of two samples with an inlined function.
    pub(crate) fn small(kind: &str, unit: &str) -> Vec<u8> {
        let strings = ["", kind, unit, "main.main", "main.work", "inlined"];
        let line = |function_id| Line { function_id };
        let profile = Profile {
            sample_type: vec![ValueType { kind: 1, unit: 2 }],
            sample: vec![
                Sample { location_id: vec![2, 1], value: vec![30] },
                Sample { location_id: vec![1], value: vec![10] },
                Sample { location_id: vec![9, 1], value: vec![-5] },
            ],
            location: vec![
                Location { id: 1, line: vec![line(1)] },
                Location { id: 2, line: vec![line(3), line(2)] },
            ],
            function: (1..=3).map(|id| Function { id, name: id as i64 + 2 }).collect(),
            string_table: strings.iter().map(|text| text.as_bytes().to_vec()).collect(),
        };
        profile.encode_to_vec()
    }

    #[test]
    fn inlined_functions_are_frames_and_negative_values_nothing() {
        let types = read(&small("cpu", "nanoseconds")).unwrap();
        assert_eq!(types[0].folded.text(), "main.main 10\nmain.main;main.work;inlined 30\n");
        assert_eq!(types[0].folded.unit, ProfileUnit::CpuNs);
        let error = read(&small("pigs", "count")).unwrap_err();
        assert!(error.cause.contains("no sample type") && !error.remedy.is_empty());
        assert!(read(b"goroutine profile: total 3\n").is_err());
        assert!(read(b"").is_err());
    }
}
