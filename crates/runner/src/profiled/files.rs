//! The files of a cell's profiles: the profiler's own, folded stacks, table and flame graph; and the difference of two
//! cells.

use crate::RunnerError;
use profile::{Folded, Refused, Taken, View};
use record::write_whole;
use schema::plan::CellPlan;
use schema::profile::{ProfileComparison, ProfiledCell, RefusedProfile, TakenProfile};
use std::path::Path;

/// Functions in `profiles.json`.
const TOP_SHORT: usize = 10;
/// Functions in a table.
const TOP_LONG: usize = 200;

/// The stacks of a cell by name, for comparisons.
pub(super) type Shown = Vec<(String, Folded)>;

/// What became files.
#[derive(Default)]
pub(super) struct Written {
    pub(super) taken: Vec<TakenProfile>,
    pub(super) refused: Vec<RefusedProfile>,
    pub(super) shown: Shown,
}

/// Writes the profiles of one cell into `folder`, which is named as the cell.
pub(super) fn write(
    cell: &CellPlan,
    results: Vec<Result<Taken, Refused>>,
    folder: &Path,
) -> Result<Written, RunnerError> {
    let mut written = Written::default();
    for result in results {
        match result {
            Ok(taken) => {
                let raw = format!("{}.{}", taken.kind.key(), taken.raw_ending);
                put(folder, &raw, &taken.raw)?;
                for view in &taken.views {
                    let one = write_view(cell, &taken, view, folder, &raw)?;
                    written.shown.push((one.name.clone(), view.folded.clone()));
                    written.taken.push(one);
                }
            }
            Err(Refused { kind, why, remedy }) => {
                written.refused.push(RefusedProfile { kind, why: *why, remedy: *remedy });
            }
        }
    }
    Ok(written)
}

fn write_view(
    cell: &CellPlan,
    taken: &Taken,
    view: &View,
    folder: &Path,
    raw: &str,
) -> Result<TakenProfile, RunnerError> {
    let name = format!("{}{}", taken.kind.key(), view.suffix);
    let folded = &view.folded;
    let title = format!("{name} of {} ({})", cell.label, folded.unit.words());
    let mut notes = taken.notes.clone();
    notes.extend(folded.notes());
    let table = view.table.clone().unwrap_or_else(|| {
        profile::table(&title, folded.unit, folded.total(), &profile::top(folded, TOP_LONG))
    });
    let told: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    let table = format!("{table}\n{told}note: {}\n", super::note());
    let mut files = vec![raw.to_owned()];
    let mut put_named = |ending: &str, bytes: &[u8]| {
        let file = format!("{name}.{ending}");
        put(folder, &file, bytes)?;
        files.push(file);
        Ok::<(), RunnerError>(())
    };
    put_named("folded", folded.text().as_bytes())?;
    put_named("top.txt", table.as_bytes())?;
    match profile::flame_graph(folded, &title) {
        Ok(svg) => put_named("svg", &svg)?,
        Err(error) => notes.push(*error.cause),
    }
    let files = files.iter().map(|file| format!("{}/{file}", cell.id)).collect();
    Ok(TakenProfile {
        kind: taken.kind,
        name,
        unit: folded.unit,
        total: folded.total(),
        stacks: folded.len() as u64,
        files,
        top: profile::top(folded, TOP_SHORT),
        notes,
    })
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RunnerError> {
    Ok(write_whole(&folder.join(name), bytes)?)
}

/// Draws each profile of `other` that `base` has too.
pub(super) fn compare(
    (base, of_base): (&ProfiledCell, &Shown),
    (other, of_other): (&ProfiledCell, &Shown),
    out: &Path,
) -> Result<Vec<ProfileComparison>, RunnerError> {
    let mut comparisons = Vec::new();
    for (name, folded) in of_other {
        let Some((_, before)) = of_base.iter().find(|(before, _)| before == name) else { continue };
        let title = format!("{name}: {} against {}, as shares", other.label, base.label);
        let Ok(svg) = profile::differential(before, folded, &title) else { continue };
        let file = format!("{name}-{}-against-{}.svg", other.cell, base.cell);
        put(out, &file, &svg)?;
        comparisons.push(ProfileComparison {
            name: name.clone(),
            base: base.cell.clone(),
            cell: other.cell.clone(),
            file,
            moved: profile::moved(before, folded, TOP_SHORT),
        });
    }
    Ok(comparisons)
}
