//! Limits as people write them, through the whole resolution.

use crate::context::Context;
use crate::experiment::experiment;
use schema::plan::ExperimentPlan;
use std::path::PathBuf;

fn resolved(rest: &str) -> Result<ExperimentPlan, String> {
    let project = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let context = Context { project, usable_cpus: vec![0, 1], pin: None };
    let text = format!(
        "[experiment]\nname = \"x\"\n[load]\nmodel = \"closed\"\nconnections = 4\n\
         {rest}\n[scenario]\nrequest = {{ path = \"/ping\" }}\n"
    );
    experiment("x.toml", &text, &context).map_err(|error| error.to_string())
}

const REFERENCE: &str = "[[target]]\nreference = {}\n";

/// Label and limits of every cell.
fn cells(rest: &str) -> Vec<String> {
    let plan = resolved(rest).unwrap();
    plan.cells.iter().map(|cell| format!("{}: {}", cell.label, cell.limits)).collect()
}

#[test]
fn a_list_of_quotas_is_a_factor_and_keys_of_a_target_go_before() {
    assert_eq!(cells(REFERENCE), ["reference, 4 connections: "]);
    assert_eq!(
        cells(&format!("[limits]\ncpus = [0.5, 1]\nmemory = \"1GiB\"\n{REFERENCE}")),
        [
            "reference, 0.5 CPUs, 4 connections: 0.5 CPUs, 1GiB",
            "reference, 1 CPU, 4 connections: 1 CPU, 1GiB"
        ]
    );
    let two = "[limits]\ncpus = 1\nnetwork = \"isolated\"\nloss = 0.01\nsysctls = { \"net.core.somaxconn\" = 9 }\n\
               [[target]]\nreference = {}\nname = \"a\"\nlimits = { cpus = 0.5, network = \"host\" }\n\
               [[target]]\nreference = {}\nname = \"b\"\n\
               limits = { rate = \"1mbit\", sysctls = { \"net.ipv4.tcp_tw_reuse\" = 1 } }";
    assert_eq!(
        cells(two),
        [
            "a, 4 connections: 0.5 CPUs",
            "b, 4 connections: 1 CPU, isolated network at 1mbit losing 0.01 of packets, net.core.somaxconn = 9, \
             net.ipv4.tcp_tw_reuse = 1"
        ]
    );
}

#[test]
fn a_claim_names_the_levels_that_it_compares() {
    let claim = |at: &str| {
        resolved(&format!(
            "[limits]\ncpus = [0.5, 1]\n{REFERENCE}[[claim]]\ntext = \"t\"\nmetric = \"throughput\"\n\
             better = \"reference\"\nthan = \"reference\"\nratio = \"< 0.6\"\n{at}"
        ))
    };
    let plan = claim("at = { cpus = 0.5 }\nthan_at = { cpus = 1 }").unwrap();
    assert_eq!(plan.claims[0].test.cells(), ["c1", "c2"]);
    assert!(claim("at = { cpus = 0.5 }").unwrap_err().contains("than_at"));
    assert!(claim("").unwrap_err().contains("at = { cpus = … }"));
    assert!(claim("at = { cpus = 2 }").unwrap_err().contains("no cell has this scenario and load"));
}

#[test]
fn mistakes_are_told_where_they_were_written() {
    for (limits, line, expected) in [
        ("cpus = 0", 7, "0 CPUs are out of range (key `limits.cpus`)"),
        ("cpus = -1", 7, "-1 CPUs are out of range"),
        ("cpus = nan", 7, "NaN CPUs are out of range"),
        ("cpus = []", 7, "the list is empty"),
        ("cpus = [1, 1.0]", 7, "the list has 1 twice"),
        ("cpu = 1", 7, "did you mean `cpus`?"),
        ("memory = \"1MiB\"", 7, "give at least 4MiB"),
        ("rate = \"1gbit\"", 7, "`rate` would change the host's own network"),
        ("loss = 0.1", 7, "add network = \"isolated\""),
        ("sysctls = { \"net.core.somaxconn\" = 1 }", 7, "`sysctls` would change"),
        ("network = \"isolated\"\nloss = 1", 8, "a loss of 1 is out of range"),
        ("network = \"isolated\"\nloss = -0.1", 8, "less than 1"),
        ("network = \"isolated\"\nrate = \"1kbit\"", 8, "give at least 8kbit"),
        (
            "network = \"isolated\"\nsysctls = { \"vm.swappiness\" = 1 }",
            8,
            "`vm.swappiness` is none of net.ipv4.*, net.ipv6.*, net.core.* (key `limits.sysctls.vm.swappiness`)",
        ),
        ("network = \"isolated\"\nsysctls = { \"net.ipv4.tcp_mem\" = 1 }", 8, "belongs to the whole host"),
        ("network = \"own\"", 7, "unknown value `own`"),
    ] {
        let text = resolved(&format!("[limits]\n{limits}\n{REFERENCE}")).unwrap_err();
        assert!(text.starts_with(&format!("x.toml:{line}:")) && text.contains(expected), "{limits}:\n{text}");
    }
    let text = resolved("[[target]]\nreference = {}\nlimits = { cpus = 0.5, loss = 0.1 }").unwrap_err();
    assert!(text.starts_with("x.toml:8:") && text.contains("key `target.0.limits.loss`"), "{text}");
}

#[test]
fn what_prony_does_not_start_is_not_confined() {
    let url = "[[target]]\nurl = \"http://127.0.0.1:1\"\n";
    for limits in [format!("{url}limits = {{ cpus = 1 }}"), format!("[limits]\ncpus = 1\n{url}")] {
        let text = resolved(&limits).unwrap_err();
        assert!(text.contains("does not start http://127.0.0.1:1 and cannot confine it"), "{text}");
    }
}

#[test]
fn an_isolated_target_may_have_services() {
    let project = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let context = Context { project, usable_cpus: vec![0, 1], pin: None };
    let text = "[experiment]\nname = \"x\"\n[limits]\nnetwork = \"isolated\"\n[[target]]\nreference = {}\n\
                [scenario]\nservices = [\"redis\"]\nrequest = { path = \"/\" }\n";
    let plan = experiment("x.toml", text, &context).unwrap();
    assert!(plan.cells[0].limits.is_isolated());
}

#[test]
fn the_generator_has_a_network_of_its_own_beside_an_isolated_target() {
    let both = "[limits]\nnetwork = \"isolated\"\ndelay = \"7ms\"\n\
                generator = { network = \"isolated\", sysctls = { \"net.ipv4.tcp_tw_reuse\" = 0 } }\n\
                [[target]]\nreference = {}\nname = \"off\"\n[[target]]\nreference = {}\nname = \"on\"\n\
                limits = { generator = { sysctls = { \"net.ipv4.tcp_tw_reuse\" = 1 } } }\n\
                [[target]]\nreference = {}\nname = \"host\"\nlimits = { network = \"host\" }";
    assert_eq!(
        cells(both),
        [
            "off, 4 connections: isolated network with a delay of 7ms, isolated generator with net.ipv4.tcp_tw_reuse = 0",
            "on, 4 connections: isolated network with a delay of 7ms, isolated generator with net.ipv4.tcp_tw_reuse = 1",
            "host, 4 connections: "
        ]
    );
    for (limits, line, expected) in [
        ("generator = { network = \"isolated\" }", 7, "the target has none (key `limits.generator.network`)"),
        ("network = \"isolated\"\ngenerator = { sysctl = {} }", 8, "did you mean `sysctls`?"),
        (
            "network = \"isolated\"\ngenerator = { sysctls = { \"net.ipv4.tcp_tw_reuse\" = 1 } }",
            8,
            "add network = \"isolated\" to the generator",
        ),
        (
            "network = \"isolated\"\n[limits.generator]\nnetwork = \"isolated\"\nsysctls = { tcp_tw_reuse = 1 }",
            10,
            "did you mean `net.ipv4.tcp_tw_reuse`?",
        ),
        (
            "network = \"isolated\"\nsysctls = { \"net.ipv4.tcp_tw_resue\" = 1 }",
            8,
            "did you mean `net.ipv4.tcp_tw_reuse`?",
        ),
        ("delay = \"1ms\"", 7, "`delay` would change the host's own network"),
        ("network = \"isolated\"\ndelay = \"2s\"", 8, "give at most 1s"),
    ] {
        let text = resolved(&format!("[limits]\n{limits}\n{REFERENCE}")).unwrap_err();
        assert!(text.starts_with(&format!("x.toml:{line}:")) && text.contains(expected), "{limits}:\n{text}");
    }
}
