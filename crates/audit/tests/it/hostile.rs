//! Whatever the text, there is a report whose numbers are finite, or an error with cause and remedy; never a panic.

use audit::{AuditError, InputForm, Options, audit};
use units::{Rng, Seed};

const SEED: u64 = 7;
const FORMS: [InputForm; 7] = [
    InputForm::Auto,
    InputForm::Csv,
    InputForm::Tsv,
    InputForm::Markdown,
    InputForm::Aligned,
    InputForm::Pairs,
    InputForm::Tool,
];

const SEEDS: [&str; 7] = [
    "study,case,connections,throughput_per_s,mean_ms,p50_ms,p99_ms,max_ms,cpu_percent,errors\nD,entry,20,6505,2.72,1,68,1774,100,3\nD,b,40,849,23.04,2,95,1867,77,0\nD,c,80,850,93.0,2,95,1867,77,0\n",
    "| 并发 | QPS（万） | 平均延迟(ms) | P99 | 错误率 |\n|---|---|---|---|---|\n| 100 | 1.2 | 8.3 | 31ms | 0.1% |\n| 200 | 1.25w | 16 | 44ms | 12% |\n",
    "time  qps  p99 (ms)  cpu\n1  100  3  50%\n2  110  4  51%\n3  111  4  52%\n4  112  3  53%\n5  110  4  50%\n",
    "Running 30s test @ http://127.0.0.1:8080/\n  12 threads and 400 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n     50%  250.00us\n     99%    5.80ms\n  22464657 requests in 30.00s, 17.76GB read\nRequests/sec: 748868.53\n",
    "QPS: 1234\n平均: 12ms\nP99: 30ms\n耗时: 30s\n",
    "指标\tGin\tEcho\nQPS\t1\t2\n平均\t3ms\t4ms\nP99\t5ms\t6ms\n",
    "run;qps;stdev;min;duration;requests;target rps;think;cores;client cpu\n1;1,5;2;3;30s;100;5;1s;4;99%\n",
];

const WORDS: [&str; 30] = [
    ",",
    "|",
    "\t",
    "  ",
    "\n",
    "\"",
    "NaN",
    "inf",
    "-1",
    "0",
    "1e300",
    "99999999999999999999",
    "-",
    "<",
    ">",
    "%",
    "ms",
    "us",
    "k",
    "万",
    "µ",
    "±",
    "\u{1b}[1m",
    "\0",
    "p99",
    "连接",
    "：",
    "=",
    "| --- |",
    "－",
];

/// Whether a sentence shows a number of ours that is none; what it quotes of the table between backticks may.
fn has_no_number(text: &str) -> bool {
    text.split('`')
        .step_by(2)
        .any(|own| own.contains("NaN") || own.split([' ', '…']).any(|word| word == "inf"))
}

/// A report is well formed; an error helps.
fn check(text: &str, form: InputForm) -> Result<(), String> {
    let options = Options { input: form, ..Options::default() };
    match audit("fuzzed", text, &options) {
        Ok(report) => {
            // The JSON form holds no infinity, so a number that is not finite would come back as nothing.
            let numbers = report.tables.iter().flat_map(|t| &t.findings).flat_map(|f| &f.numbers);
            let finite = numbers.clone().all(|number| number.low.is_finite() && number.high.is_finite());
            let said = report.tables.iter().flat_map(|t| &t.findings).all(|f| {
                let texts = [&f.what, &f.law, &f.bound, &f.remedy];
                texts.iter().all(|text| !text.is_empty() && !has_no_number(text))
            });
            let placed = report.tables.iter().all(|table| {
                let lines = text.lines().count() as u64;
                let rows = table.rows.len() as u32;
                table.rows.iter().all(|row| (1..=lines).contains(&row.line))
                    && table
                        .findings
                        .iter()
                        .all(|f| !f.rows.is_empty() && f.rows.iter().all(|n| (1..=rows).contains(n)))
            });
            (finite && said && placed)
                .then_some(())
                .ok_or_else(|| format!("{finite} {said} {placed} {report:?}"))
        }
        Err(AuditError { cause, remedy, line, .. }) => {
            let helps = !cause.trim().is_empty() && !remedy.trim().is_empty();
            let within = line.is_none_or(|line| (1..=text.lines().count().max(1)).contains(&line));
            let clean = !cause.chars().any(char::is_control);
            (helps && within && clean).then_some(()).ok_or_else(|| format!("{line:?} {cause:?} {remedy:?}"))
        }
    }
}

fn mutant(rng: &mut Rng) -> String {
    let any = |rng: &mut Rng| SEEDS[rng.below(SEEDS.len() as u64) as usize];
    let mut text: Vec<char> = any(rng).chars().collect();
    for _ in 0..=rng.below(6) {
        let at = rng.below(text.len() as u64 + 1) as usize;
        let end = (at + rng.below(16) as usize).min(text.len());
        match rng.below(6) {
            0 => drop(text.drain(at..end)),
            1 => text.truncate(at),
            2 => {
                let piece = text[at..end].to_vec();
                text.extend(piece);
            }
            3 => {
                let other: Vec<char> = any(rng).chars().collect();
                let from = rng.below(other.len() as u64) as usize;
                text.truncate(at);
                text.extend(&other[from..]);
            }
            4 => text.insert(at, char::from_u32(rng.below(0x3000) as u32).unwrap_or('x')),
            _ => {
                let word = WORDS[rng.below(WORDS.len() as u64) as usize];
                text.splice(at..end.min(at + 1), word.chars());
            }
        }
    }
    text.into_iter().collect()
}

fn first_find(
    cases: usize,
    check: impl Fn(&str, InputForm) -> Result<(), String>,
) -> Option<(String, String)> {
    let mut rng = Seed(SEED).derive("hostile", 0).rng();
    for _ in 0..cases {
        let text = mutant(&mut rng);
        let form = FORMS[(rng.below(14) as usize).saturating_sub(7)];
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&text, form)));
        match found {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => return Some((text, cause)),
            Err(_) => return Some((text, format!("panic, {form:?}"))),
        }
    }
    None
}

#[test]
fn no_text_breaks_it() {
    for seed in SEEDS {
        FORMS.iter().for_each(|form| check(seed, *form).unwrap_or_else(|cause| panic!("{cause}\n{seed}")));
    }
    if let Some((text, cause)) = first_find(6_000, check) {
        panic!("{cause}\ninput: {text:?}");
    }
}

#[test]
#[ignore = "a million mutants take minutes"]
fn no_text_breaks_it_in_full() {
    if let Some((text, cause)) = first_find(1_000_000, check) {
        panic!("{cause}\ninput: {text:?}");
    }
}

#[test]
fn numbers_that_are_none_are_seen_outside_of_quotes() {
    assert!(has_no_number("at most inf /s") && has_no_number("1 … NaN ms") && has_no_number("inf"));
    assert!(!has_no_number("`100 inf 1.2` in `NaN` cannot be read") && !has_no_number("an information"));
}

#[test]
fn a_planted_fault_is_found() {
    let faulty = |text: &str, _| if text.contains("NaN") { Err("planted".to_owned()) } else { Ok(()) };
    assert!(first_find(6_000, faulty).is_some());
}
