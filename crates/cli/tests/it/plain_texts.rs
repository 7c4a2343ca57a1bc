//! Sentences in files have ids: in the JSON Schemas of everything that prony writes, a plain text is data that stands in
//! [`DATA`], with the reason why it is no sentence. A new field of plain text fails here until it is `Said` or listed.
//!
//! Absent on purpose: files that people write, and lists that a command prints and no page shows ([`LEFT_OUT`]).

use crate::command::root;
use crate::tidy::files;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Formats without a page that could show their sentences in another language.
const LEFT_OUT: [&str; 15] = [
    // Written by people.
    "experiment",
    "fleet",
    "nats",
    "study",
    "scenario",
    "target",
    "service",
    // Printed by one command, and kept nowhere.
    "audit",
    "faults",
    "ledger",
    "services",
    "targets",
    "targets-build",
    "targets-check",
    // Sent to webhooks, and kept in a file that no page shows.
    "alarm",
];

/// Types that are a sentence, or a part of one.
const SENTENCES: [&str; 2] = ["Said", "Arg"];

/// Why a plain text is none, and which are so: `Type.field`, or the type alone where it is the text.
const DATA: [(&str, &[&str]); 6] = [
    (
        "labels of cells and loads: names and settings; the page translates them by their kind",
        &[
            "Capacity.level",
            "CellAcross.label",
            "CellPlan.label",
            "CellSummary.label",
            "CellSummary.limits",
            "CellSummary.load",
            "CellWhy.label",
            "CiChange.load",
            "CompareFile.only_a",
            "CompareFile.only_b",
            "Comparison.a_target",
            "Comparison.b_target",
            "Comparison.load",
            "EffectLevel.against",
            "EffectLevel.factor",
            "EffectLevel.level",
            "Factor.levels",
            "HistorySeries.cell",
            "LayerCost.against",
            "LayerCost.level",
            "LayerCosts.at",
            "LayerCosts.factor",
            "LayerMetric.base",
            "LayersPlan.levels",
            "LevelsAdvice.of",
            "LiveCell.label",
            "LiveTrial.label",
            "PageProfile.label",
            "PageRefusal.label",
            "ProfileComparison.base",
            "ProfiledCell.label",
            "SamplesAdvice.of",
            "ShapedLoad.label",
            "SoakReport.cell",
            "TrialNow.label",
        ],
    ),
    (
        "text of people: questions, claims, conditions, notes, commands, calls, files",
        &[
            "AnalysisFile.question",
            "CallPlan.method",
            "ClaimPlan.text",
            "ClaimResult.text",
            "ClaimSource.article",
            "ClaimSource.place",
            "Conditions.length",
            "Conditions.think",
            "Conditions.tool",
            "Conditions.versions",
            "Encoded",
            "EventAction.command",
            "ExperimentCard.question",
            "ExperimentPlan.question",
            "HooksPlan.setup",
            "HooksPlan.teardown",
            "Label.note",
            "Label.tags",
            "MessageCapture.default",
            "MessageCapture.name",
            "MessageCapture.names",
            "MessageCheck.name",
            "RunCard.note",
            "RunCard.question",
            "RunCard.tags",
            "RunFile.command",
            "CiCommit.reference",
            "CiCommit.subject",
            "RunFile.experiment_text",
            "ScriptPlan.text",
            "SearchPlan.objective",
            "SearchResult.objective",
            "TagCount.tag",
            "TargetSource.build",
            "TargetSource.command",
            "ThresholdAnswer.text",
            "ThresholdPlan.text",
            "AlarmPlan.text",
            "AlarmPlan.when",
            "ThresholdResult.expression",
            "ValuePart.text",
        ],
    ),
    (
        "text of others: answers, logs, messages of the system, models, literature",
        &[
            "CounterCurve.source",
            "CounterLine.source",
            "FailedAnswer.body",
            "FailedAnswer.check",
            "Finding.source",
            "HostIdentity.cpu_model",
            "ListedAgent.error",
            "LiveCounter.source",
            "LoadReport.error_examples",
            "RequestPlan.body",
            "StartCard.log_tail",
            "TrialDetail.log_tail",
        ],
    ),
    (
        "times, versions and fingerprints",
        &[
            "AgentFacts.arch",
            "AgentFacts.boot_id",
            "AgentFacts.kernel",
            "AgentFacts.prony",
            "CalibrationFile.measured_wall",
            "CalibrationSummary.fingerprint",
            "CalibrationSummary.measured_wall",
            "HistoryChange.first_wall",
            "HistoryRun.started_wall",
            "HostIdentity.fingerprint",
            "HostIdentity.kernel",
            "HostIdentity.machine",
            "HostIdentity.prony",
            "LabInfo.prony",
            "LiveFile.boot",
            "PageFile.prony",
            "RunCard.started_wall",
            "RunFile.started_wall",
            "RunFile.versions",
            "RunHead.started_wall",
            "SegmentFile.started_wall",
            "SelfcheckFile.prony",
            "ServiceRecord.versions",
            "SoakSegment.started_wall",
            "StartCard.started_wall",
            "TlsPlan.versions",
            "TrialFile.origin_wall",
            "TuningJournal.boot",
            "TuningJournal.owner",
            "TuningJournal.since_wall",
            "VersionDifference.a",
            "VersionDifference.b",
            "VersionDifference.name",
        ],
    ),
    (
        "settings, as they were given or read back",
        &[
            "AgentFacts.host",
            "AgentLink.keys",
            "AgentLoad.about",
            "AgentLink.address",
            "AgentLink.command",
            "AgentLink.path",
            "AgentLink.server",
            "AgentPlan.name",
            "AgentRecord.name",
            "AgentReport.name",
            "AgentSummary.host",
            "AgentSummary.name",
            "AgentsCompared.differ",
            "ArrivalPlan.file",
            "BodyExpectation.value",
            "Capture.cookie",
            "Capture.default",
            "Capture.header",
            "Capture.json",
            "Capture.message",
            "Capture.regex",
            "Change.name",
            "Change.value",
            "Confinement.cpu_set",
            "Confinement.groups",
            "Confinement.memory_nodes",
            "ConnectionPlan.congestion",
            "ConnectionPlan.device",
            "ConnectionPlan.sources",
            "ConnectionPlan.unix_socket",
            "Count",
            "CountAt.path",
            "CountAt.pointer",
            "Duration",
            "EntryPlan.origin",
            "EventAction.values",
            "ExpectPlan.contains",
            "ExpectPlan.headers",
            "ExpectPlan.json_equals",
            "ExpectPlan.json_has",
            "ExpectPlan.regex",
            "ExpectPlan.sha256",
            "Feeder.columns",
            "Feeder.delimiter",
            "Feeder.file",
            "ExporterAt.path",
            "GeneratorPlan.sysctls",
            "IsolatedGenerator.address",
            "IsolatedGenerator.namespace",
            "IsolatedGenerator.sysctls",
            "IsolatedGenerator.target_end",
            "IsolatedNetwork.host_address",
            "IsolatedNetwork.host_device",
            "IsolatedNetwork.services",
            "IsolatedNetwork.sysctls",
            "IsolatedNetwork.target_address",
            "LimitsPlan.sysctls",
            "Metrics.go_expvar",
            "Metrics.go_pprof",
            "Metrics.go_runtime",
            "Metrics.nginx",
            "Metrics.node",
            "Metrics.php_fpm",
            "Metrics.php_opcache",
            "Metrics.php_runtime",
            "Metrics.swoole",
            "NotTuned.name",
            "NotTuned.value",
            "NotTuned.wanted",
            "ProfiledCell.settings",
            "PrometheusAt.counter",
            "PrometheusAt.histogram",
            "PrometheusAt.labels",
            "PrometheusAt.path",
            "PrometheusAt.patterns",
            "PutBack.found",
            "PutBack.name",
            "PutBack.new",
            "PutBack.old",
            "Rate",
            "Ready.path",
            "Reference.freeze",
            "RequestPlan.headers",
            "RequestPlan.method",
            "RequestPlan.path",
            "ResolvedLoad.address",
            "ResolvedLoad.driver",
            "ResolvedLoad.url",
            "ScenarioPlan.choose",
            "ScenarioPlan.folder",
            "ScenarioPlan.vars",
            "ScriptPlan.args",
            "ScriptPlan.file",
            "ServiceRecord.cpus",
            "ShapePlan.kind",
            "Size",
            "TargetPlan.env",
            "TargetPlan.knobs",
            "TargetSource.folder",
            "TargetSource.image",
            "TargetSource.name",
            "TargetSource.url",
            "TlsPlan.alpn",
            "TlsPlan.ca_file",
            "TlsPlan.cert_file",
            "TlsPlan.ciphers",
            "TlsPlan.groups",
            "TlsPlan.key_file",
            "TlsPlan.server_name",
            "TokenMaker.key_file",
            "TokenMaker.key_id",
            "TokenMaker.secret",
            "TokenMaker.secret_env",
            "TunedSetting.name",
            "TunedSetting.new",
            "TunedSetting.old",
            "Variant.knobs",
        ],
    ),
    (
        "identifiers, names, paths and keys",
        &[
            "AgentGate.gate",
            "Accepted.start",
            "AdviceFile.experiment",
            "AdviceFile.runs",
            "AnalysisFile.run",
            "Association.counter",
            "Capacity.target",
            "CapacityRow.cell",
            "CellPlan.id",
            "CellPlan.scenario",
            "CellPlan.target",
            "CellSummary.cell",
            "CellSummary.target",
            "CellWhy.cell",
            "ClaimPlan.a",
            "ClaimPlan.b",
            "ClaimPlan.cell",
            "ClaimPlan.cells",
            "ClaimPlan.denominator",
            "ClaimPlan.id",
            "ClaimPlan.minuend",
            "ClaimPlan.numerator",
            "ClaimPlan.subtrahend",
            "ClaimPlan.target",
            "ClaimPlan.than",
            "ClaimQuantity.cell",
            "ClaimQuantity.denominator",
            "ClaimQuantity.minuend",
            "ClaimQuantity.numerator",
            "ClaimQuantity.subtrahend",
            "ClaimQuantity.target",
            "ClaimResult.id",
            "ClaimResult.kind",
            "CiCommit.commit",
            "CiFile.experiment",
            "CiFile.run",
            "CompareFile.experiment",
            "ComparePair.a",
            "ComparePair.b",
            "Comparison.a",
            "Comparison.b",
            "Confinement.name",
            "ControlPlan.cell",
            "ControlPlan.of",
            "CounterCurve.name",
            "CounterMetric.counter",
            "CounterMetric.per",
            "DesignPlan.baseline",
            "Difference.id",
            "EachRow.name",
            "NotableRequest.name",
            "RequestSpans.cell",
            "SpanTime.name",
            "SpanTime.service",
            "SpansFile.run",
            "TraceIds.span_id",
            "TraceIds.trace_id",
            "EachSummary.file",
            "EntryPlan.name",
            "EventMark.name",
            "EventPlan.name",
            "EventRecord.name",
            "EventSummary.cell",
            "EventSummary.name",
            "Evidence.from",
            "ExperimentCard.file",
            "ExperimentCard.last_run",
            "ExperimentCard.name",
            "ExperimentPlan.name",
            "Fact.id",
            "Factor.name",
            "FailedAnswer.request",
            "FileEntry.name",
            "Finding.cell",
            "FlameNode.name",
            "Gate.gate",
            "HistoryAlarm.raised_run",
            "HistoryAlarm.since_run",
            "HistoryChange.after_run",
            "HistoryChange.first_run",
            "HistoryFile.experiment",
            "HistoryRun.id",
            "HostIdentity.name",
            "InterventionFile.cell",
            "InterventionFile.of",
            "InterventionFile.run",
            "LabInfo.experiments",
            "LabInfo.runs",
            "LayerCost.cell",
            "LayerFactor.name",
            "LayerMetric.base_cell",
            "ListedAgent.name",
            "LiveCell.cell",
            "LiveCell.target",
            "LiveCounter.name",
            "MonitoringFile.server",
            "LiveFile.launched_by",
            "LivePlanned.cell",
            "LiveTrial.cell",
            "MemorySeries.from",
            "MovedFunction.function",
            "OutlyingTrial.cell",
            "PageProfile.cell",
            "PageProfile.name",
            "PageProfile.origin",
            "PageRefusal.cell",
            "ProfileComparison.cell",
            "ProfileComparison.file",
            "ProfileComparison.name",
            "ProfiledCell.cell",
            "ProfiledCell.target",
            "ProfilesFile.run",
            "RequestCurve.name",
            "AgentInterval.name",
            "RequestInterval.name",
            "RequestSummary.name",
            "RunCard.id",
            "RunCard.name",
            "RunCard.targets",
            "RunFile.id",
            "RunHead.id",
            "ScenarioPlan.name",
            "ScenarioPlan.services",
            "ServiceRecord.env",
            "ServiceRecord.name",
            "Shift.a",
            "Shift.b",
            "SoakReport.run",
            "StartCard.file",
            "StartCard.id",
            "StartCard.run",
            "TakenProfile.files",
            "TakenProfile.name",
            "TargetPlan.name",
            "ThresholdPlan.target",
            "AlarmPlan.target",
            "TokenSummary.name",
            "TopFunction.function",
            "TrialDetail.cell",
            "TrialFile.cell",
            "TrialNow.cell",
            "TrialPlan.cell",
            "TrialRow.cell",
            "Variant.of",
            "WhyFile.run",
        ],
    ),
];

/// The plain texts of a schema, by the name of their type.
fn plain_texts(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    texts_within(schema, schema["title"].as_str().unwrap_or_default(), &mut found);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        if !SENTENCES.contains(&name.as_str()) {
            texts_within(part, name, &mut found);
        }
    }
    found
}

/// `place` is a type, or a type and its field. Other types are only named here; each has a part of its own.
fn texts_within(part: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Some(part) = part.as_object() else { return };
    if is_text(part) {
        found.insert(place.to_owned());
    }
    let of_type = place.split('.').next().unwrap_or_default();
    for (field, inner) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
        texts_within(inner, &format!("{of_type}.{field}"), found);
    }
    for (_, inner) in part.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
        texts_within(inner, place, found);
    }
    for key in ["items", "additionalProperties"] {
        part.get(key).into_iter().for_each(|inner| texts_within(inner, place, found));
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        let inner = part.get(key).and_then(Value::as_array).into_iter().flatten();
        inner.for_each(|inner| texts_within(inner, place, found));
    }
}

/// Any text, not one of a few words.
fn is_text(part: &Map<String, Value>) -> bool {
    let is_string = match part.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => false,
    };
    is_string && !part.contains_key("enum") && !part.contains_key("const")
}

/// Names of formats with their schemas.
fn formats() -> Vec<(String, Value)> {
    let schema = |file: &std::path::PathBuf| {
        let name = file.file_name()?.to_str()?.strip_suffix(".schema.json")?.to_owned();
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        file.starts_with("docs/schemas").then(|| (name, serde_json::from_str(&text).unwrap()))
    };
    files().iter().filter_map(schema).collect()
}

#[test]
fn a_sentence_in_a_file_has_an_id() {
    let formats = formats();
    let of_formats: BTreeSet<&str> = formats.iter().map(|(name, _)| name.as_str()).collect();
    for name in LEFT_OUT {
        assert!(of_formats.contains(name), "there is no format {name}: leave it out of LEFT_OUT");
    }
    let kept = formats.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    let found: BTreeSet<String> = kept.flat_map(|(_, schema)| plain_texts(schema)).collect();
    let listed: Vec<&str> = DATA.iter().flat_map(|(_, fields)| *fields).copied().collect();
    let unlisted: Vec<&String> = found.iter().filter(|field| !listed.contains(&field.as_str())).collect();
    assert!(
        unlisted.is_empty(),
        "plain texts that no list names: {unlisted:?}. Make each a `schema::said::Said`, or say in DATA why it is data"
    );
    let stale: Vec<&&str> = listed.iter().filter(|field| !found.contains(**field)).collect();
    assert!(stale.is_empty(), "no file has these plain texts any more: {stale:?}");
    let twice = listed.len() - listed.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(twice, 0, "DATA names a field twice");
}

#[test]
fn a_plain_text_is_found_wherever_it_stands() {
    let schema = serde_json::json!({
        "title": "File",
        "properties": {
            "plain": { "type": "string" },
            "maybe": { "type": ["string", "null"] },
            "list": { "type": "array", "items": { "type": "string" } },
            "pairs": { "items": { "prefixItems": [{ "type": "string" }, { "type": "number" }] } },
            "map": { "additionalProperties": { "type": "array", "items": { "type": "string" } } },
            "by_name": { "patternProperties": { "^x": { "type": "string" } } },
            "choice": { "type": "string", "enum": ["a", "b"] },
            "sentence": { "$ref": "#/$defs/Said" },
            "number": { "type": "integer" },
        },
        "$defs": {
            "Said": { "properties": { "text": { "type": "string" } } },
            "Kind": { "oneOf": [{ "properties": { "kind": { "const": "a", "type": "string" }, "of": { "type": "string" } } }] },
            "Name": { "type": "string" },
        },
    });
    let found = plain_texts(&schema);
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "File.by_name",
            "File.list",
            "File.map",
            "File.maybe",
            "File.pairs",
            "File.plain",
            "Kind.of",
            "Name"
        ]
    );
}
