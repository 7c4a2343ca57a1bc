//! The conformance suite of gRPC (connectrpc.com/conformance) against prony's framing: its reference server is asked by the
//! example `grpc_conformance` of the crate `probe`, whose codec is the load's.
//!
//! The suite comes as a Go module; where there is no Go or no network, it is skipped, and said so. What a load cannot do is
//! left out by the configuration (other protocols, TLS) and by name (calls that the client gives up).

use crate::command::{is_there, root};
use std::path::{Path, PathBuf};
use std::process::Command;

const RUNNER: &str = "connectrpc.com/conformance/cmd/connectconformance@v1.0.5";
const CONFIGURATION: &str = "features:
  versions: [HTTP_VERSION_2]
  protocols: [PROTOCOL_GRPC]
  codecs: [CODEC_PROTO]
  compressions: [COMPRESSION_IDENTITY, COMPRESSION_GZIP]
  streamTypes: [STREAM_TYPE_UNARY, STREAM_TYPE_CLIENT_STREAM, STREAM_TYPE_SERVER_STREAM, STREAM_TYPE_HALF_DUPLEX_BIDI_STREAM]
  supportsH2c: true
  supportsTls: false
  supportsConnectGet: false
  supportsMessageReceiveLimit: true
";
/// Calls that their client gives up.
const LEFT_OUT: &str = "Client Cancellation/**";

/// The runner, installed beside the build; none where it cannot be had.
fn runner() -> Option<PathBuf> {
    let folder = root().join("target/tools/conformance");
    let program = folder.join("connectconformance");
    if !program.is_file() {
        if !is_there("go") {
            println!(
                "skipped: the conformance suite of gRPC, because go is not installed (apt-get install golang-go)"
            );
            return None;
        }
        let installed = Command::new("go").args(["install", RUNNER]).env("GOBIN", &folder).output().unwrap();
        if !installed.status.success() {
            let why = String::from_utf8_lossy(&installed.stderr);
            println!("skipped: the conformance suite of gRPC, because it cannot be fetched: {}", why.trim());
            return None;
        }
    }
    Some(program)
}

/// The client under test, built.
fn client() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--locked", "-p", "probe", "--example", "grpc_conformance"];
    let built = Command::new(cargo).args(build).current_dir(root()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let profile = Path::new(env!("CARGO_BIN_EXE_prony")).parent().unwrap();
    profile.join("examples/grpc_conformance")
}

#[test]
#[ignore = "fetches and builds a suite of others, minutes; run by `make test-all`"]
fn every_case_of_the_suite_that_applies_passes() {
    let Some(runner) = runner() else { return };
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("conformance.yaml");
    std::fs::write(&configuration, CONFIGURATION).unwrap();
    let run = Command::new(runner)
        .args(["--mode", "client", "--conf", configuration.to_str().unwrap(), "--skip", LEFT_OUT, "--"])
        .arg(client())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    let passed = said.lines().rev().find(|line| line.contains(" passed")).unwrap_or_default();
    println!("{passed}");
    assert!(run.status.success() && !passed.is_empty(), "{said}");
}
