//! What must hold of every input of the parsers, whatever its bytes: one plain function for each fuzz target.
//!
//! The fuzzers under `fuzz/` (cargo-fuzz, nightly) and the short run of `cargo test` (`tests/smoke.rs`, stable) call
//! the same functions, so a find of one is a regression test of the other.
//! Invariants: a property depends on nothing but its input and the repository's own files; it says what broke and
//! shows the input's part; each property is tried on a planted fault.
//! Absent on purpose: fuzzing itself, and anything that only a run against a socket can show.

pub mod answer;
pub mod audit;
mod broken;
pub mod chunked;
pub mod coding;
pub mod counters;
pub mod dictionary;
pub mod experiment;
pub mod files;
pub mod grpc;
pub mod hpack;
pub mod http2;
pub mod import;
pub mod mutate;
pub mod profile;
pub mod read;
pub mod request;
pub mod response;
pub mod spans;
pub mod template;

pub use broken::Broken;

/// A fuzz target: its name, which is also the name of its folders, and its property.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the fuzz target and of its folders under `fuzz/corpus` and `fuzz/regressions`.
    pub name: &'static str,
    /// The property.
    pub check: fn(&[u8]) -> Result<(), Broken>,
}

/// All fuzz targets.
pub const TARGETS: [Target; 16] = [
    Target { name: "response", check: response::check },
    Target { name: "chunked", check: chunked::check },
    Target { name: "request", check: request::check },
    Target { name: "experiment", check: experiment::check },
    Target { name: "audit", check: audit::check },
    Target { name: "counters", check: counters::check },
    Target { name: "profile", check: profile::check },
    Target { name: "coding", check: coding::check },
    Target { name: "answer", check: answer::check },
    Target { name: "import", check: import::check },
    Target { name: "template", check: template::check },
    Target { name: "files", check: files::check },
    Target { name: "http2", check: http2::check },
    Target { name: "hpack", check: hpack::check },
    Target { name: "grpc", check: grpc::check },
    Target { name: "spans", check: spans::check },
];
