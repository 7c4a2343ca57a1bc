//! Whether the kernel gives memory back before anybody needs it: DAMON's page-out schemes and its module `damon_reclaim`
//! (kernel, Documentation/admin-guide/mm/damon).
//!
//! Hosts of many small virtual machines do so. Pages of programs and files that were idle, say for a minute, are then read
//! from the disk again, in the middle of a start or of a request.

use super::fact::{About, Judgement, off, read_text};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;
use std::fs::read_dir;
use std::path::{Path, PathBuf};

const RECLAIM: About = About {
    id: "memory.proactive_reclaim",
    title: || said!("fact.memory_proactive_reclaim.title", "Memory that rests"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.memory_proactive_reclaim.effect",
            "a kernel that pages out what was idle reads programs and files from the disk again: starts take longer and vary, and a request that comes to such a page waits for the disk"
        )
    },
};

pub(super) fn fact(roots: &Roots) -> Fact {
    RECLAIM.fact(judge(&roots.sys))
}

fn judge(sys: &Path) -> Option<Judgement> {
    let mm = sys.join("kernel/mm");
    let module = "module/damon_reclaim/parameters/enabled";
    if read_text(sys.join(module)).is_some_and(|text| text.trim() == "Y") {
        return Some(paged_out("N", Path::new(module)));
    }
    let threads = folders(&mm.join("damon/admin/kdamonds"));
    for thread in threads {
        // Only root may read it.
        let state = read_text(thread.join("state"))?;
        if state.trim() == "on" && pages_out(&thread) {
            let within = thread.strip_prefix(sys).unwrap_or(&thread);
            return Some(paged_out("off", &within.join("state")));
        }
    }
    mm.is_dir().then(|| Judgement::ok(off()))
}

/// `value` in the file at `path` below `/sys` ends it.
fn paged_out(value: &str, path: &Path) -> Judgement {
    Judgement::note(
        said!("fact.memory_proactive_reclaim.on", "what was idle is paged out (DAMON)"),
        said!(
            "fact.memory_proactive_reclaim.remedy",
            "echo {value} > {path} for the time of the run, or ask who runs this host",
            value,
            path = Path::new("/sys").join(path).display().to_string()
        ),
    )
}

/// Whether one of a thread's schemes pages out.
fn pages_out(thread: &Path) -> bool {
    let contexts = folders(&thread.join("contexts"));
    let mut schemes = contexts.iter().flat_map(|context| folders(&context.join("schemes")));
    schemes.any(|scheme| read_text(scheme.join("action")).is_some_and(|text| text.trim() == "pageout"))
}

/// Folders whose names are numbers, in order.
fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = read_dir(of).into_iter().flatten().map_while(Result::ok);
    let mut found: Vec<(u32, PathBuf)> =
        entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Planted, check};
    use super::*;
    use schema::doctor::Severity::{Note, Ok};

    const THREAD: &str = "sys/kernel/mm/damon/admin/kdamonds/0";

    fn of(files: &[(&str, &str)]) -> Fact {
        let host = Planted::new();
        host.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        files.iter().for_each(|(file, text)| host.put(file, text));
        host.facts("", "").into_iter().find(|fact| fact.id == RECLAIM.id).unwrap()
    }

    #[test]
    fn schemes_that_page_out_are_found_where_they_are_on() {
        let (state, action) = (format!("{THREAD}/state"), format!("{THREAD}/contexts/0/schemes/1/action"));
        check(&of(&[]), Ok, Some("off"));
        check(&of(&[(&state, "on\n"), (&action, "pageout\n")]), Note, Some("paged out"));
        check(&of(&[(&state, "off\n"), (&action, "pageout\n")]), Ok, Some("off"));
        check(&of(&[(&state, "on\n"), (&action, "stat\n")]), Ok, Some("off"));
        check(&of(&[(&action, "pageout\n")]), Note, None);
        let module = "sys/module/damon_reclaim/parameters/enabled";
        check(&of(&[(module, "Y\n")]), Note, Some("paged out"));
        check(&of(&[(module, "N\n")]), Ok, Some("off"));
    }
}
