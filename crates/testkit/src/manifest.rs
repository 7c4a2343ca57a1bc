//! A `target.toml` that is right, for tests that read it, break it or add to it.

/// The least that a target of the folder `targets/go/gin` needs: it is built, it takes its address from prony, and it
/// says where it is ready. Lines count from 1, and tests name them.
pub const GO_GIN: &str = r#"schema = "prony.target/1"
name = "go/gin"
description = "d"
language = "go"
[build]
command = ["go", "build"]
[run]
command = ["{build}/server"]
env = { LISTEN = "{host}:{port}" }
[ready]
path = "/health"
"#;
