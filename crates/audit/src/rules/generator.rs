//! Figures that look like the load tool's own: one ceiling for all things measured, a tool without CPU to spare, a
//! plateau with CPU to spare. METHOD §1, §9: the generator is checked first and vetoes all others.

use super::Draft;
use crate::kind::Kind;
use crate::ladder::{groups, levels};
use crate::sheet::{Row, Sheet};
use crate::words;
use schema::audit::{AuditFinding, AuditLoad, AuditSeverity};

pub(super) const RULE: &str = "generator-bound";
pub(super) const NEEDS: &str =
    "throughput of three things measured, CPU of the load tool, or a ladder with CPU";

/// Ceilings within this share of the highest are the same.
const SAME: f64 = 0.03;
/// So many things must share it.
const THINGS: usize = 3;
const BUSY: f64 = 0.9;
const SPARE: f64 = 0.7;

pub(super) fn check(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let ceiling = one_ceiling(sheet, findings);
    let cpu = own_cpu(sheet, findings);
    let spare = spare_cpu(sheet, findings);
    ceiling || cpu || spare
}

/// Every thing reaches the same throughput.
fn one_ceiling(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let is_series = sheet.has(Kind::Time) || sheet.has(Kind::Repeat);
    if sheet.load != AuditLoad::Closed || is_series {
        return false;
    }
    let rate = |row: &Row| row.get(Kind::Throughput).map_or(0.0, |figure| figure.value);
    let groups: Vec<Vec<&Row>> =
        groups(sheet).into_iter().filter(|group| group.iter().all(|row| !row.labels.is_empty())).collect();
    let best = |group: &Vec<&Row>| -> Option<usize> {
        group
            .iter()
            .enumerate()
            .filter(|(_, row)| rate(row) > 0.0)
            .max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))
            .map(|(at, _)| at)
    };
    let tops: Vec<&Row> = groups.iter().filter_map(|group| Some(group[best(group)?])).collect();
    // `run 1`, `run 2`, `run 3` are one thing.
    let mut things: Vec<String> = tops.iter().map(|row| without_numbers(row)).collect();
    things.sort_unstable();
    things.dedup();
    if things.len() < THINGS {
        return false;
    }
    let highest = tops.iter().map(|row| rate(row)).fold(0.0, f64::max);
    let same: Vec<&Row> = tops.iter().copied().filter(|row| rate(row) >= highest * (1.0 - SAME)).collect();
    // Three of many may be alike; most of them may not.
    if same.len() < THINGS || 3 * same.len() < 2 * tops.len() {
        return true;
    }
    let draft = Draft::new(
        RULE,
        AuditSeverity::Suspicious,
        &same,
        format!("{} things measured share one ceiling of throughput", same.len()),
    )
    .law("different programs seldom have one capacity; one load tool, network or think time in common has");
    let draft = same.iter().fold(draft, |draft, row| match row.get(Kind::Throughput) {
        Some(figure) => draft.number_of(row, "X", Kind::Throughput, figure),
        None => draft,
    });
    draft
        .bound(format!("all reach {} within {}", words::rate(highest), words::percent(SAME)))
        .remedy(
            "find the limit of the load tool before the target is blamed: `prony calibrate` measures prony's own, and every trial has \
             the gates `generator_cpu` and `pacer_lag`; look also for a full network and for N/(R + Z)",
        )
        .into(findings);
    true
}

fn without_numbers(row: &Row) -> String {
    row.labels.iter().map(|label| label.replace(|c: char| c.is_ascii_digit(), "") + "\n").collect()
}

/// The load tool has no CPU left.
fn own_cpu(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    for row in &sheet.rows {
        let Some(cpu) = row.get(Kind::GeneratorCpu).filter(|cpu| cpu.value >= BUSY) else { continue };
        Draft::new(RULE, AuditSeverity::Suspicious, &[row], "the load tool had no CPU to spare")
            .law("a generator that is busy sends late and reads late: its latencies are its own (METHOD §1)")
            .number("CPU of the tool", Kind::GeneratorCpu, cpu)
            .maybe("X", Kind::Throughput, row)
            .bound(format!("below {} of its cores, and {} is printed", words::percent(BUSY), cpu.text))
            .remedy(
                "give it more cores or machines, or less load; `prony calibrate` says what prony can do here",
            )
            .into(findings);
    }
    sheet.has(Kind::GeneratorCpu)
}

/// Throughput is flat although the target has CPU to spare.
fn spare_cpu(sheet: &Sheet, findings: &mut Vec<AuditFinding>) -> bool {
    let mut applied = false;
    for group in groups(sheet) {
        let levels = levels(&group);
        let [.., before, last] = levels.as_slice() else { continue };
        let Some(cpu) = last.row.get(Kind::Cpu) else { continue };
        applied = true;
        let cores = last.row.get(Kind::Cores).map_or(1.0, |cores| cores.value.max(1.0));
        // Percent of the machine and of one core cannot be distinguished without cores: then one core is the measure.
        let is_flat =
            last.throughput <= before.throughput * 1.03 && last.connections >= before.connections * 1.5;
        if !is_flat || cpu.value >= SPARE * cores || levels.len() < 3 {
            continue;
        }
        Draft::new(RULE, AuditSeverity::Suspicious, &[before.row, last.row], "throughput is flat although the target has CPU to spare")
            .law("what is full limits: if it is not the target's CPU, it is something else (METHOD §9)")
            .number_of(last.row, "U", Kind::Cpu, cpu)
            .bound(format!(
                "{} and {} at {} and {} connections, with {} of CPU busy",
                words::rate(before.throughput),
                words::rate(last.throughput),
                words::count(before.connections),
                words::count(last.connections),
                cpu.text
            ))
            .remedy(
                "look at the load tool first, then at pools, locks, a quota and the services behind; `prony run` reads the counters \
                 that tell them apart",
            )
            .into(findings);
    }
    applied
}
