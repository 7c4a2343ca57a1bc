//! What all Rust targets do alike, so that a comparison shows the frameworks and nothing else: settings, the
//! rules and records of the contract, tokens, files, checksums, the access log, the server and its stop.
//!
//! Deliberately absent: routing, parameters and the writing of answers, which are what a framework does, and
//! the services, which only some targets need.
pub mod contract;
#[cfg(feature = "contract-test")]
pub mod contract_test;
pub mod files;
pub mod log;
pub mod program;
pub mod runtime;
pub mod serve;
pub mod settings;
pub mod times;
pub mod token;
pub mod upload;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
