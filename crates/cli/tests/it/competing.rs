//! Other processes on the CPUs of a trial and of a calibration: reported, and not taken for the target or the
//! instrument.
//!
//! Busy programs stand for them. They end with the test, and by themselves if it is killed.

use crate::command::{Done, done, prony, turn};
use crate::run::{Lab, read};
use serde_json::Value;
use std::process::{Child, Command, Stdio};

/// Programs that compute on all CPUs that the test may use, ended when dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start(programs: usize) -> Self {
        let spin = || {
            // `exec` keeps the loop in the process that is ended below; its bound holds if the test is killed.
            let script = "ulimit -t 60; exec sh -c 'while :; do :; done'";
            Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().expect("sh starts")
        };
        Self((0..programs).map(|_| spin()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// So many that each CPU has four of them beside one process of the trial.
fn crowd() -> Busy {
    Busy::start(4 * std::thread::available_parallelism().map_or(1, usize::from))
}

#[test]
fn a_trial_whose_cpus_others_have_is_void_and_says_so() {
    let one = "[[target]]\nname = \"one\"\nreference = { burn = \"20ms\" }";
    let lab = Lab::new(one, "", "blocks = 1\npin = \"off\"");
    let busy = crowd();
    let ran = done(&lab.args());
    drop(busy);
    assert_eq!(ran.code, 2, "{}\n{}", ran.out, ran.err);
    let trial = read(&lab.run().join("trials/0001/trial.json"));
    assert_eq!(trial["outcome"], "void", "{trial:#}");
    let reasons = trial["load"]["validity"]["reasons"].as_array().unwrap();
    let gate = reasons.iter().find(|gate| gate["gate"] == "competing_cpu").expect("others are a reason");
    assert!(gate["value"].as_f64().unwrap() > 0.5, "{gate}");
    // They are named before anything is blamed on the generator or the clock.
    let first = reasons[0]["gate"].as_str().unwrap();
    assert_eq!(first, "competing_cpu", "{reasons:#?}");
}

#[test]
#[ignore = "calibrates twice, half a minute; run by `make test-all`"]
fn a_calibration_on_a_busy_host_is_marked_and_takes_no_better_ones_place() {
    let _turn = turn();
    let state = tempfile::tempdir().unwrap();
    let with = |args: &[&str]| -> Done {
        prony(args).env("XDG_STATE_HOME", state.path()).output().expect("prony starts").into()
    };
    crate::calibrate::plant(state.path(), None);
    let busy = crowd();
    let done = with(&["calibrate", "--quick", "--for", "2s", "--format", "json"]);
    drop(busy);
    assert_eq!(done.code, 0, "{}", done.err);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    crate::load::check_schema("calibration", &found);
    assert!(found["host_state"]["competing_share"].as_f64().unwrap() > 0.05, "{}", found["host_state"]);
    assert!(found["host_state"]["load_1m"].is_number());
    assert!(
        found["disturbed"]["text"].as_str().unwrap().contains("other processes used"),
        "{}",
        found["disturbed"]
    );
    assert!(done.err.contains("not kept: the host was busy"), "{}", done.err);
    let kept = with(&["calibrate", "--show", "--format", "json"]);
    let kept: Value = serde_json::from_str(&kept.out).unwrap();
    assert_eq!((&kept["disturbed"], &kept["measured_wall"]), (&Value::Null, &"2026-11-21T09:30:00Z".into()));
}
