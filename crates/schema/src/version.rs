//! Format names with versions: each file says what it is, and a file of another version is refused when it is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A type with one value: the format name and version at the head of a file.
macro_rules! version {
    ($(#[$doc:meta])* $type:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
        pub enum $type {
            /// The only version so far.
            #[default]
            #[serde(rename = $text)]
            V1,
        }
    };
    ($(#[$doc:meta])* $type:ident, $text:literal, reads $($old:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
        pub enum $type {
            /// Sentences have ids ([`crate::said::Said`]); those of older versions are plain texts, which are read, too.
            #[default]
            #[serde(rename = $text $(, alias = $old)+)]
            Latest,
        }
    };
}

version!(
    /// Head of `scenarios/*.toml`.
    ScenarioVersion,
    "prony.scenario/1"
);
version!(
    /// Head of `target.toml`.
    TargetVersion,
    "prony.target/1"
);
version!(
    /// Head of `targets --format json`.
    TargetListVersion,
    "prony.targets/1"
);
version!(
    /// Head of `targets check --format json`.
    TargetChecksVersion,
    "prony.targets-check/1"
);
version!(
    /// Head of `targets build --format json`.
    TargetBuildsVersion,
    "prony.targets-build/1"
);
version!(
    /// Head of `fleet list --format json`.
    FleetListVersion,
    "prony.fleet-list/1"
);
version!(
    /// Head of a line of `alarms.ndjson`, and of what a webhook gets.
    AlarmVersion,
    "prony.alarm/1"
);
version!(
    /// Head of `ci.json` and of `ci --format json`.
    CiVersion,
    "prony.ci/1"
);
version!(
    /// Head of `verify-monitoring --format json`.
    MonitoringVersion,
    "prony.verify-monitoring/1"
);
version!(
    /// Head of `reference --list-faults --format json`.
    FaultListVersion,
    "prony.faults/1"
);
version!(
    /// Head of `load --format json` and of the same object in `trial.json`.
    LoadVersion,
    "prony.load/3",
    reads "prony.load/2", "prony.load/1"
);
version!(
    /// Head of the JSON lines of `load --each`.
    EachVersion,
    "prony.each/1"
);
version!(
    /// Head of `spans.json`.
    SpansVersion,
    "prony.spans/1"
);
version!(
    /// Head of `why --format json`.
    WhyVersion,
    "prony.why/2",
    reads "prony.why/1"
);
version!(
    /// Head of `interventions/*.json`.
    InterventionVersion,
    "prony.intervention/3",
    reads "prony.intervention/2", "prony.intervention/1"
);
version!(
    /// Head of `signals.json`.
    SignalsVersion,
    "prony.signals/1"
);
version!(
    /// Head of `run.json`.
    RunVersion,
    "prony.run/2",
    reads "prony.run/1"
);
version!(
    /// Head of `trial.json`.
    TrialVersion,
    "prony.trial/4",
    reads "prony.trial/3", "prony.trial/2", "prony.trial/1"
);
version!(
    /// Head of `analysis.json`.
    AnalysisVersion,
    "prony.analysis/3",
    reads "prony.analysis/2", "prony.analysis/1"
);
version!(
    /// Head of `report --format page` and of the data within `report.html`.
    PageVersion,
    "prony.page/3",
    reads "prony.page/2", "prony.page/1"
);
version!(
    /// Head of `audit --format json`.
    AuditVersion,
    "prony.audit/1"
);
version!(
    /// Head of `studies/*.toml`.
    StudyVersion,
    "prony.study/1"
);
version!(
    /// Head of `ledger --format json`.
    LedgerVersion,
    "prony.ledger/1"
);
version!(
    /// Head of `shape --format json`.
    ShapeVersion,
    "prony.shape/1"
);
version!(
    /// Head of `doctor --format json`, also in `run.json`.
    DoctorVersion,
    "prony.doctor/2",
    reads "prony.doctor/1"
);
version!(
    /// Head of the journal of settings that prony has changed on the host.
    TuningVersion,
    "prony.tuning/1"
);
version!(
    /// Head of `doctor --diff --format json`.
    EnvironmentDiffVersion,
    "prony.environment-diff/2",
    reads "prony.environment-diff/1"
);
version!(
    /// Head of a stored calibration and of `calibrate --format json`.
    CalibrationVersion,
    "prony.calibration/2",
    reads "prony.calibration/1"
);
version!(
    /// Head of `service.toml`.
    ServiceVersion,
    "prony.service/1"
);
version!(
    /// Head of `services --format json`.
    ServiceListVersion,
    "prony.services/1"
);
version!(
    /// Head of `plan --format json`.
    AdviceVersion,
    "prony.plan/3",
    reads "prony.plan/2", "prony.plan/1"
);
version!(
    /// Head of `selfcheck --format json`.
    SelfcheckVersion,
    "prony.selfcheck/1"
);
version!(
    /// Head of `compare --format json`.
    CompareVersion,
    "prony.compare/3",
    reads "prony.compare/2", "prony.compare/1"
);
version!(
    /// Head of `history --format json`.
    HistoryVersion,
    "prony.history/3",
    reads "prony.history/2", "prony.history/1"
);
version!(
    /// Head of `segment.json`.
    SegmentVersion,
    "prony.segment/2",
    reads "prony.segment/1"
);
version!(
    /// Head of `soak --format json`, also in `analysis.json`.
    SoakVersion,
    "prony.soak/3",
    reads "prony.soak/2", "prony.soak/1"
);
version!(
    /// Head of every answer of `prony serve` that is no file of its own.
    LabVersion,
    "prony.lab/4",
    reads "prony.lab/3", "prony.lab/2", "prony.lab/1"
);
version!(
    /// Head of `live.json`.
    LiveVersion,
    "prony.live/1"
);
version!(
    /// Head of `.prony-labels.json`.
    LabelsVersion,
    "prony.labels/1"
);
version!(
    /// Head of `profiles.json` and of `profile --format json`.
    ProfilesVersion,
    "prony.profiles/2",
    reads "prony.profiles/1"
);

#[cfg(test)]
mod tests {
    use crate::load::{Gate, LatencySummary};
    use crate::version::{LabVersion, LoadVersion, TrialVersion};
    use serde::de::DeserializeOwned;
    use serde_json::{from_value, json};

    fn reads<V: DeserializeOwned>(heads: &[&str]) -> Vec<bool> {
        heads.iter().map(|head| from_value::<V>(json!(head)).is_ok()).collect()
    }

    #[test]
    fn older_versions_are_read_and_unknown_ones_are_not() {
        assert_eq!(
            reads::<LoadVersion>(&["prony.load/1", "prony.load/2", "prony.load/3", "prony.load/4"]),
            [true, true, true, false]
        );
        let trials = ["prony.trial/1", "prony.trial/2", "prony.trial/3", "prony.trial/4", "prony.trial/5"];
        assert_eq!(reads::<TrialVersion>(&trials), [true, true, true, true, false]);
        assert_eq!(
            reads::<LabVersion>(&["prony.lab/1", "prony.lab/2", "prony.lab/3", "prony.lab/4"]),
            [true; 4]
        );
        assert_eq!(serde_json::to_value(TrialVersion::default()).unwrap(), "prony.trial/4");
    }

    /// As `prony.load/1` wrote them.
    #[test]
    fn sentences_of_older_versions_are_plain_texts() {
        let gate = json!({"gate": "steal", "ok": true, "value": 0.0, "limit": 0.05, "text": "as it was"});
        assert_eq!(from_value::<Gate>(gate).unwrap().text, "as it was");
        let summary = json!({"count": 0, "censored": 0, "refused": {"p99": "needs 30,000 requests"}});
        let read = from_value::<LatencySummary>(summary).unwrap();
        assert_eq!(read.refused["p99"], "needs 30,000 requests");
        assert_eq!(read.refused["p99"].id(), "");
    }
}
