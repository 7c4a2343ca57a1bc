//! Serde types of every file that prony reads or writes, each with its format version.
//!
//! Invariants: files written by people reject unknown keys and name the nearest valid one; files written by prony
//! carry a version, and times in them are raw nanoseconds with the unit in the key; JSON Schemas are generated from
//! these types and a test holds `docs/schemas/` equal to them.
//! Absent on purpose: IO, defaults and resolution (plan's work), and any arithmetic.

pub mod across;
pub mod advice;
pub mod agents;
pub mod alarm;
pub mod analysis;
pub mod arrival;
pub mod audit;
mod belief;
mod body;
pub mod calibration;
pub mod capacity;
pub mod ci;
mod claim;
mod compact;
pub mod counter_metric;
pub mod counter_name;
pub mod counters;
pub mod design;
pub mod doctor;
pub mod each;
pub mod environment;
mod error_class;
mod estimate;
pub mod event;
pub mod experiment;
pub mod family;
pub mod fault;
pub mod finding;
pub mod fleet;
pub mod grpc;
pub mod hooks;
pub mod intervention;
pub mod json;
pub mod kernel_clock;
pub mod knob;
pub mod lab;
pub mod layers;
pub mod ledger;
mod levels;
pub mod limits;
pub mod load;
pub mod memory_view;
mod messages;
pub mod metric;
pub mod monitoring;
mod names;
pub mod page;
pub mod plan;
pub mod profile;
pub mod published;
mod reference;
pub mod run;
pub mod said;
pub mod scenario;
pub mod selfcheck;
pub mod server_side;
pub mod service;
mod settings;
pub mod shape;
pub mod share;
pub mod signals;
pub mod soak;
pub mod spans;
pub mod steady;
pub mod study;
pub mod target;
pub mod target_check;
pub mod text;
pub mod threshold;
mod times;
pub mod tls;
pub mod trace_level;
pub mod traced;
pub mod trial;
pub mod tuning;
pub mod version;

pub use compact::CompactError;

use schemars::{Schema, schema_for};

/// Every file format: the name of its schema file and the schema. No command may call it: the generator of schemas would
/// be in the binary, which has `docs/schemas` instead (`assets::schema`).
#[must_use]
pub fn json_schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("experiment", schema_for!(experiment::ExperimentFile)),
        ("scenario", schema_for!(scenario::ScenarioFile)),
        ("target", schema_for!(target::TargetManifest)),
        ("service", schema_for!(service::ServiceManifest)),
        ("services", schema_for!(service::ServiceList)),
        ("targets", schema_for!(target::TargetList)),
        ("targets-check", schema_for!(target_check::TargetChecks)),
        ("targets-build", schema_for!(target_check::TargetBuilds)),
        ("fleet", schema_for!(fleet::FleetFile)),
        ("nats", schema_for!(fleet::BusLogin)),
        ("fleet-list", schema_for!(agents::FleetListFile)),
        ("faults", schema_for!(fault::FaultList)),
        ("load", schema_for!(load::LoadReport)),
        ("each-head", schema_for!(each::EachHead)),
        ("each", schema_for!(each::EachRow)),
        ("shape", schema_for!(shape::ShapeReport)),
        ("run", schema_for!(run::RunFile)),
        ("trial", schema_for!(trial::TrialFile)),
        ("interval", schema_for!(trial::IntervalLine)),
        ("counter", schema_for!(trial::CounterLine)),
        ("analysis", schema_for!(analysis::AnalysisFile)),
        ("page", schema_for!(page::PageFile)),
        ("why", schema_for!(finding::WhyFile)),
        ("spans", schema_for!(spans::SpansFile)),
        ("intervention", schema_for!(intervention::InterventionFile)),
        ("signals", schema_for!(signals::Signals)),
        ("audit", schema_for!(audit::AuditReport)),
        ("study", schema_for!(study::StudyFile)),
        ("ledger", schema_for!(ledger::LedgerFile)),
        ("segment", schema_for!(soak::SegmentFile)),
        ("soak", schema_for!(soak::SoakReport)),
        ("window", schema_for!(soak::WindowLine)),
        ("alarm", schema_for!(alarm::AlarmLine)),
        ("verify-monitoring", schema_for!(monitoring::MonitoringFile)),
        ("doctor", schema_for!(doctor::DoctorReport)),
        ("environment-diff", schema_for!(environment::EnvironmentDiff)),
        ("tuning", schema_for!(tuning::TuningJournal)),
        ("plan", schema_for!(advice::AdviceFile)),
        ("compare", schema_for!(across::CompareFile)),
        ("ci", schema_for!(ci::CiFile)),
        ("history", schema_for!(across::HistoryFile)),
        ("selfcheck", schema_for!(selfcheck::SelfcheckFile)),
        ("profiles", schema_for!(profile::ProfilesFile)),
        ("calibration", schema_for!(calibration::CalibrationFile)),
        ("live", schema_for!(lab::LiveFile)),
        ("labels", schema_for!(lab::LabelsFile)),
        ("lab-info", schema_for!(lab::LabInfo)),
        ("lab-runs", schema_for!(lab::RunList)),
        ("lab-run", schema_for!(lab::RunDetail)),
        ("lab-hello", schema_for!(lab::LiveHello)),
        ("lab-end", schema_for!(lab::LiveEnd)),
        ("lab-compare", schema_for!(lab::ComparePairs)),
        ("lab-experiments", schema_for!(lab::ExperimentList)),
        ("lab-accepted", schema_for!(lab::Accepted)),
        ("lab-error", schema_for!(lab::LabError)),
    ]
}
