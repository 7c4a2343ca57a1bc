//! `prony targets`: what experiments can use, and what is missing for it.

use crate::args::{TargetsArgs, TextOrJson};
use crate::exit;
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use target::CatalogEntry;

pub(crate) fn targets(args: &TargetsArgs) -> Result<u8> {
    let project = runner::resolve::project_of(Path::new("here"));
    let catalog = target::catalog(&project);
    let mut out = std::io::stdout();
    if args.format == TextOrJson::Json {
        let entries: Vec<_> = catalog.iter().map(as_json).collect();
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&json!({ "schema": "prony.targets/1", "targets": entries }))?
        )?;
        return Ok(exit::DONE);
    }
    for entry in &catalog {
        write!(out, "{}", lines(entry))?;
    }
    if catalog.is_empty() {
        let place = project.join("targets");
        writeln!(
            out,
            "there are no targets under {}; experiments can still use url, command and reference",
            place.display()
        )?;
    } else {
        writeln!(out, "\nreference          the reference target inside prony (known law of service time)")?;
    }
    Ok(exit::DONE)
}

fn lines(entry: &CatalogEntry) -> String {
    match &entry.manifest {
        Err(error) => format!("{:<18} its manifest is wrong: {error}\n", entry.name),
        Ok(manifest) => {
            let mut text = format!("{:<18} {}\n", entry.name, manifest.description);
            for need in entry.needs.iter().filter(|need| need.found.is_none()) {
                text += &format!("{:<18} missing: {} - {}\n", "", need.program, need.install);
            }
            text
        }
    }
}

fn as_json(entry: &CatalogEntry) -> serde_json::Value {
    let needs: Vec<_> = entry
        .needs
        .iter()
        .map(|need| json!({ "program": need.program, "found": need.found, "install": need.install }))
        .collect();
    let manifest = entry.manifest.as_ref().ok();
    json!({
        "name": entry.name,
        "folder": entry.folder,
        "description": manifest.map(|manifest| &manifest.description),
        "language": manifest.map(|manifest| &manifest.language),
        "provides": manifest.map(|manifest| &manifest.provides),
        "error": entry.manifest.as_ref().err().map(ToString::to_string),
        "needs": needs,
    })
}
