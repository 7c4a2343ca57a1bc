//! The code of targets/proto/contract.proto, compiled without protoc, and its descriptors for reflection.

use std::path::PathBuf;

use prost::Message as _;

const FOLDER: &str = "../../proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={FOLDER}/contract.proto");
    let files = protox::compile(["contract.proto"], [FOLDER])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("contract.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
