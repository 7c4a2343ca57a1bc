//! Experiments that make calls, through the whole resolution: each scenario has its version of HTTP, each target its scenarios.

use crate::context::Context;
use crate::experiment::experiment;
use schema::plan::{ExperimentPlan, HttpVersion};
use std::path::PathBuf;

fn resolved(text: &str) -> Result<ExperimentPlan, String> {
    let project = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let context = Context { project, usable_cpus: vec![0, 1], pin: None };
    experiment("x.toml", text, &context).map_err(|error| error.to_string())
}

#[test]
fn calls_stand_beside_requests() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/grpc-vs-json.toml");
    let plan = resolved(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cells: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            let connection = &cell.load.connection;
            (&*cell.target, &*cell.scenario, connection.http, cell.load.connections, connection.streams)
        })
        .collect();
    let expected = [
        ("go/grpc", "rpc-records", HttpVersion::V2, 8, 8),
        ("go/nethttp", "json", HttpVersion::V2, 8, 8),
        ("go/nethttp", "json", HttpVersion::V1_1, 64, 1),
    ];
    assert_eq!(cells, expected);
    let sent = |target: &str| {
        plan.scenarios_of(target).into_iter().map(|scenario| scenario.name).collect::<Vec<_>>()
    };
    assert_eq!((sent("go/grpc"), sent("go/nethttp")), (vec!["rpc-records".into()], vec!["json".to_owned()]));
}

#[test]
fn a_call_says_its_files_and_how_its_target_is_ready() {
    let with = |target: &str, proto: &str| {
        let call = format!("grpc = {{ method = \"prony.contract.v1.Contract/Ping\"{proto} }}");
        resolved(&format!(
            "[experiment]\nname = \"x\"\n[load]\nmodel = \"closed\"\nconnections = 4\n\
             [[target]]\ncommand = [\"x\", \"{{port}}\"]\n{target}\n[scenario]\nrequest = {{ {call} }}\n"
        ))
    };
    let proto = ", proto = [\"../targets/proto/contract.proto\"]";
    let plan = with("ready = { grpc = true }", proto).unwrap();
    assert_eq!(plan.cells[0].load.connection.http, HttpVersion::V2);
    let text = with("ready = { grpc = true }", "").unwrap_err();
    assert!(text.contains("nothing says what the messages of the method are"), "{text}");
    let text = with("ready = { grpc = true, path = \"/\" }", proto).unwrap_err();
    assert!(text.contains("target.0.ready.path") && text.contains("keep one of path, grpc"), "{text}");
}
