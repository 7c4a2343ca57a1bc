//! The examples of docs/guides/scenario-file.md are what the guide says: whole files whose checks and captures compile.

use request::Check;
use schema::plan::ExpectPlan;
use schema::scenario::{Capture, Expect, ScenarioFile};
use schema::text::parse_toml;
use std::collections::BTreeMap;

const GUIDE: &str = include_str!("../../../../docs/guides/scenario-file.md");

fn examples() -> Vec<&'static str> {
    GUIDE.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(text, _)| text)).collect()
}

fn compile(expect: &Expect, capture: &BTreeMap<String, Capture>) -> Check {
    let plan = ExpectPlan {
        headers: expect.headers.clone().into_iter().collect(),
        length: expect.length,
        contains: expect.contains.clone(),
        regex: expect.regex.clone(),
        json_has: expect.json_has.clone(),
        json_equals: expect.json_equals.clone().into_iter().collect(),
        sha256: expect.sha256.clone(),
        sample: expect.sample,
        ..ExpectPlan::default()
    };
    Check::compile(&plan, None, capture, &|_| 0, false).unwrap()
}

#[test]
fn every_example_is_a_scenario_file() {
    let mut names = Vec::new();
    for text in examples() {
        let file: ScenarioFile = parse_toml("docs/guides/scenario-file.md", text).unwrap();
        assert_ne!(file.request.is_some(), !file.requests.is_empty(), "{}: one or several", file.name);
        if let Some(expect) = &file.expect {
            compile(expect, &BTreeMap::new());
        }
        for request in &file.requests {
            compile(&request.expect, &request.capture);
        }
        let steps = file.session.as_ref().and_then(|session| session.steps.clone()).unwrap_or_default();
        let is_named = |step: &String| file.requests.iter().any(|request| request.name == *step);
        assert!(steps.iter().all(is_named), "{}: {steps:?}", file.name);
        names.push(file.name);
    }
    assert_eq!(
        names,
        [
            "search",
            "upload",
            "shop",
            "yesterday",
            "shop-and-search",
            "keys",
            "login",
            "profile",
            "account",
            "buy",
            "wander"
        ]
    );
}

#[test]
fn the_guide_names_every_check_and_place() {
    for key in [
        "status",
        "headers",
        "body",
        "json",
        "json_file",
        "length",
        "contains",
        "regex",
        "json_has",
        "json_equals",
        "sha256",
        "sample",
        "header",
        "cookie",
        "default",
        "steps",
        "think",
        "connection",
        "cookies",
        "on_failure",
    ] {
        assert!(GUIDE.contains(&format!("`{key}`")), "{key}");
    }
}
