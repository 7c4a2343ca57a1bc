//! Hostile names, reasons, examples and versions, planted everywhere at once, are inert in every format.

use report::Style;
use schema::analysis::AnalysisFile;
use schema::counter_metric::{ClaimMetric, CounterMetric};
use schema::page::{
    CounterCurve, CounterKind, EventMark, FlameNode, PageFile, PageProfile, PageRefusal, RequestCurve,
    TrialDetail,
};
use schema::plan::ClaimComparison;
use schema::profile::{ProfileKind, ProfileUnit, RefusedProfile};
use schema::run::RunFile;
use schema::threshold::{ThresholdAnswer, ThresholdVerdict};

/// Markup, a quote that ends an attribute, a Markdown link and cell border, an escape sequence, a line break with a
/// heading, and a right-to-left override.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=y>[l](javascript:z)|`b`\x1b[2J\x1b]0;t\x07\r\n# head\u{202e}\u{0}";

fn planted() -> (RunFile, AnalysisFile) {
    let (mut run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    let hostile = || HOSTILE.to_owned();
    (analysis.run, analysis.question) = (hostile(), hostile());
    (analysis.answer, analysis.belief.summary) = (hostile().into(), hostile().into());
    for note in &mut analysis.belief.notes {
        (note.text, note.remedy) = (hostile().into(), Some(hostile().into()));
    }
    for trial in &mut analysis.trials {
        trial.reasons = vec![hostile().into()];
    }
    for cell in &mut analysis.cells {
        (cell.label, cell.target, cell.load) = (hostile(), hostile(), hostile());
        cell.metrics.iter_mut().for_each(|metric| metric.refused = Some(hostile().into()));
        crate::sample::traced::plant(cell, HOSTILE, HOSTILE);
        let ids = cell.notable.slowest.iter_mut().filter_map(|one| one.request.trace.as_mut());
        ids.for_each(|ids| ids.trace_id = hostile());
    }
    for comparison in &mut analysis.comparisons {
        (comparison.a_target, comparison.b_target, comparison.load) = (hostile(), hostile(), hostile());
        comparison.refused = Some(hostile().into());
    }
    for claim in &mut analysis.claims {
        (claim.text, claim.evidence, claim.kind) = (hostile(), hostile().into(), hostile());
    }
    let metric = ClaimMetric::Counter(CounterMetric {
        counter: hostile(),
        per: Some(hostile()),
        higher_is_better: false,
    });
    analysis.thresholds = vec![ThresholdAnswer {
        text: hostile(),
        unit: metric.unit(),
        metric,
        comparison: ClaimComparison::AtMost,
        bound: 1.0,
        verdict: ThresholdVerdict::Crossed,
        checked: 1,
        crossed: 1,
        worst: Some(2.0),
        evidence: hostile().into(),
    }];
    analysis.effects = Some(planted_effects());
    plant_run(&mut run);
    (run, analysis)
}

fn planted_effects() -> schema::analysis::Effects {
    let mut effects = crate::sample::effects();
    let hostile = || HOSTILE.to_owned();
    for factor in &mut effects.factors {
        (factor.name, factor.levels) = (hostile(), vec![hostile(); 2]);
    }
    for effect in &mut effects.effects {
        effect
            .of
            .iter_mut()
            .for_each(|step| (step.factor, step.level, step.against) = (hostile(), hostile(), hostile()));
        (effect.interval, effect.refused) = (None, Some(hostile().into()));
    }
    effects.metrics_refused.insert("p99".to_owned(), hostile().into());
    effects.refused = Some(hostile().into());
    effects
}

fn plant_run(run: &mut RunFile) {
    let hostile = || HOSTILE.to_owned();
    (run.id, run.started_wall, run.experiment_text) = (hostile(), hostile(), hostile() + "```\n<b>");
    (run.plan.name, run.plan.scenarios[0].name, run.plan.scenarios[0].requests[0].request.path) =
        (hostile(), hostile(), hostile());
    run.command.push(hostile());
    run.plan.pin.weakness = Some(hostile().into());
    run.plan.targets.iter_mut().for_each(|target| target.name = hostile());
    run.plan.cells.iter_mut().for_each(|cell| cell.label = hostile());
    run.versions.insert(hostile(), hostile());
    for fact in &mut run.environment.facts {
        (fact.title, fact.value, fact.effect) = (hostile().into(), Some(hostile().into()), hostile().into());
        fact.remedy = Some(hostile().into());
    }
}

/// No control character but the line feed, and nothing that turns the direction of text.
fn no_controls(text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
    assert_eq!(bad, None);
}

#[test]
fn html_shows_it_and_runs_none_of_it() {
    let (run, analysis) = planted();
    let page = report::html(&run, &analysis).unwrap();
    no_controls(&page);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\"'>"));
    // Escaped by askama in the page and by the chart library in the charts.
    assert!(page.contains("&#60;script&#62;alert(1)") && page.contains("&lt;script&gt;alert(1)"));
}

/// A page in which everything that is read from a target is hostile too.
fn planted_page() -> PageFile {
    let (run, analysis) = planted();
    let hostile = || format!("{HOSTILE}</script><!--<script>\u{2028}\u{2029}&lt;");
    let detail = TrialDetail {
        id: 1,
        cell: hostile(),
        counters: vec![CounterCurve {
            source: hostile(),
            name: hostile(),
            kind: CounterKind::Gauge,
            unit: None,
            values: vec![None],
        }],
        by_request: vec![RequestCurve {
            name: Some(hostile()),
            completed: vec![1],
            p50_ns: vec![None],
            p99_ns: vec![None],
        }],
        pauses: None,
        events: vec![EventMark { t_ns: 0, ended_ns: 0, name: hostile() }],
        log_tail: vec![hostile(), "tab\tkept".to_owned()],
        missing: vec![hostile().into()],
        ..TrialDetail::default()
    };
    let profile = PageProfile {
        cell: hostile(),
        label: hostile(),
        kind: ProfileKind::Cpu,
        name: hostile(),
        origin: hostile(),
        unit: ProfileUnit::CpuNs,
        total: 1,
        frames: FlameNode { name: hostile(), value: 1, children: Vec::new() },
        top: Vec::new(),
        notes: vec![hostile().into()],
    };
    let refused = RefusedProfile { kind: ProfileKind::Perf, why: hostile().into(), remedy: hostile().into() };
    PageFile {
        schema: Default::default(),
        prony: hostile(),
        lang: Default::default(),
        run,
        analysis,
        details: vec![detail],
        details_left_out: Some(hostile().into()),
        profiles: vec![profile],
        profiles_note: Some(hostile().into()),
        profiles_refused: vec![PageRefusal { cell: hostile(), label: hostile(), refused }],
        environment_difference: None,
    }
}

#[test]
fn nothing_in_a_page_ends_its_data() {
    const BEFORE: &str =
        "<!doctype html>\n<title>prony</title><script type=\"application/json\" id=\"prony-page\">";
    const AFTER: &str = "</script><script type=\"module\">run(\"__PRONY_PAGE__\")</script>\n";
    let page = planted_page();
    let html = report::page_html(&page, &format!("{BEFORE}__PRONY_PAGE__{AFTER}")).unwrap();
    no_controls(&html);
    let data = html.strip_prefix(BEFORE).unwrap().strip_suffix(AFTER).expect("the program is as it was");
    assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\n']));
    let json = report::page_json(&page).unwrap();
    no_controls(&json);
    let read: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(read, serde_json::from_str::<serde_json::Value>(&json).unwrap());
    // It is still there, to be shown as text.
    assert!(read["analysis"]["answer"]["text"].as_str().unwrap().starts_with("<script>alert(1)</script>"));
    assert_eq!(read["details"][0]["log_tail"][1], "tab\tkept");
    let span = &read["analysis"]["cells"][0]["spans"][0]["spans"][0];
    assert!(span["name"].as_str().unwrap().starts_with("<script>") && span["service"] == span["name"]);
    for text in ["\\u001b", "\\u202e", "\\u0000", "\\u0007"] {
        assert!(!data.contains(text), "{text}");
    }
    assert!(report::page_html(&page, "<html></html>").unwrap_err().to_string().contains("make ui"));
}

#[test]
fn charts_show_it_and_run_none_of_it() {
    let (_, analysis) = planted();
    let charts = report::charts(&analysis).unwrap();
    assert!(charts.len() > 5);
    for chart in charts {
        no_controls(&chart.svg);
        no_controls(&chart.title);
        assert!(!chart.svg.contains("<script") && !chart.svg.contains("<img") && !chart.svg.contains("\"'>"));
        let mut reader = quick_xml::Reader::from_str(&chart.svg);
        while reader.read_event().expect("well formed") != quick_xml::events::Event::Eof {}
    }
}

#[test]
fn markdown_shows_it_and_formats_none_of_it() {
    let (run, analysis) = planted();
    let text = report::markdown(&run, &analysis);
    no_controls(&text);
    let clean_line = "<script>alert(1)</script>\"'><img src=x onerror=y>[l](javascript:z)|`b`";
    for (number, line) in outside_code(&text).iter().enumerate() {
        for act in ["<script", "<img", "](javascript", "`b`"] {
            let unescaped = line.match_indices(act).any(|(at, _)| !line[..at].ends_with('\\'));
            assert!(!unescaped, "line {number} has {act}: {line}");
        }
        assert!(!line.starts_with("# head"), "{line}");
    }
    // The fence of the block is longer than the one that was planted, so the block keeps its text as it is.
    assert!(text.contains(clean_line) && text.contains("````\n"));
    // Every row of a table has as many cells as its header.
    for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut lines = table.lines();
        let header = cells(lines.next().unwrap());
        assert!(lines.all(|line| cells(line) == header), "{table}");
    }
}

/// The lines with code spans and code blocks left out.
fn outside_code(text: &str) -> Vec<String> {
    let mut fence: Option<String> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                let parts = line.replace("\\`", "\u{1}");
                let prose: String = parts.split('`').step_by(2).collect();
                lines.push(prose.replace('\u{1}', "\\`"));
            }
        }
    }
    lines
}

#[test]
fn terminal_passes_no_escape_sequence() {
    let (run, analysis) = planted();
    no_controls(&report::terminal(&run, &analysis, Style::PLAIN));
    no_controls(&report::explained(&run, &analysis, Style::PLAIN));
    let coloured = report::terminal(&run, &analysis, Style { color: true, width: 80 });
    let mut ours = coloured.replace("\x1b[0m", "");
    for code in ["1", "2", "31", "32", "33"] {
        ours = ours.replace(&format!("\x1b[{code}m"), "");
    }
    no_controls(&ours);
}

#[test]
fn load_text_passes_no_escape_sequence() {
    let mut load = crate::sample::load::load_report();
    load.plan.url = HOSTILE.into();
    load.plan.driver = HOSTILE.into();
    load.error_examples.values_mut().flatten().for_each(|example| *example = HOSTILE.into());
    load.latency_ns.response.refused.insert("p999".into(), HOSTILE.into());
    load.latency_ns.send_lag.refused.insert("p999".into(), HOSTILE.into());
    load.validity
        .reasons
        .iter_mut()
        .for_each(|gate| (gate.gate, gate.text) = (HOSTILE.into(), HOSTILE.into()));
    for detail in [false, true] {
        let text = report::load_text(&load, Style::PLAIN, detail);
        no_controls(&text);
        assert!(text.contains("�[2J"), "{text}");
    }
}

#[test]
fn csv_has_no_formula() {
    let (mut run, mut analysis) = planted();
    for formula in ["=HYPERLINK(\"http://x\")", "+1+cmd", "-2+3", "@SUM(1)", "\t=1", HOSTILE] {
        run.id = formula.into();
        for cell in &mut analysis.cells {
            (cell.target, cell.load) = (formula.into(), formula.into());
        }
        for trial in &mut analysis.trials {
            trial.reasons = vec![formula.into()];
        }
        let text = report::csv(&run, &analysis).unwrap();
        no_controls(&text);
        assert_eq!(text.lines().count(), 21, "no field breaks its line");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for record in reader.records() {
            for field in &record.unwrap() {
                let formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
                assert!(!formula, "{field}");
            }
        }
    }
}

#[test]
fn the_ledger_shows_it_and_runs_none_of_it() {
    use report::Lang;
    use schema::ledger::{
        Condition, LedgerArticle, LedgerAudit, LedgerDifference, LedgerFile, LedgerRow, LedgerVerdict,
    };
    use schema::study::{ReasonCode, StudyThing, Words};
    let hostile = || HOSTILE.to_owned();
    let words = || Words { en: hostile(), zh: hostile() };
    let audit = LedgerAudit { impossible: true, rule: hostile(), law: hostile(), bound: hostile() };
    let differs = vec![LedgerDifference { what: Condition::Cores, published: hostile(), here: hostile() }];
    let row = |printed: &str| LedgerRow {
        number: 1,
        text: words(),
        printed: printed.to_owned(),
        place: hostile(),
        verdict: LedgerVerdict::Impossible,
        experiment: Some(hostile()),
        run: Some(hostile()),
        short: true,
        measured: Vec::new(),
        audit: Some(audit.clone()),
        reason: None,
        note: Some(words()),
        differs: differs.clone(),
    };
    let article = LedgerArticle {
        article: hostile(),
        title: words(),
        rows: vec![row(HOSTILE), row("=1+cmd")],
        things: vec![StudyThing {
            text: words(),
            shows: Vec::new(),
            reason: Some(ReasonCode::Hardware),
            note: Some(words()),
        }],
    };
    let ledger = LedgerFile { articles: vec![article], notes: vec![hostile()], ..Default::default() };
    for lang in [Lang::En, Lang::Zh] {
        let html = report::ledger_html(&ledger, lang).unwrap();
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("\"'>"), "{html}");
        let markdown = report::ledger_markdown(&ledger, lang);
        assert!(outside_code(&markdown).iter().all(|line| !line.starts_with("# head")), "{markdown}");
        assert!(!markdown.contains(" <script") && !markdown.contains(" <img"), "{markdown}");
        let csv = report::ledger_csv(&ledger, lang).unwrap();
        assert!(csv.lines().count() == 3 && !csv.contains(",=1") && !csv.contains("\"=1"), "{csv}");
        for text in [html, markdown, csv, report::ledger_text(&ledger, lang, Style::PLAIN)] {
            no_controls(&text);
        }
    }
}
