//! `prony targets list`.

use super::project;
use crate::args::TextOrJson;
use crate::exit;
use anyhow::Result;
use launch::{CatalogEntry, NeedState};
use schema::target::{TargetList, TargetListEntry, TargetListNeed};
use std::io::Write;

pub(super) fn list(format: TextOrJson) -> Result<u8> {
    let project = project();
    let catalog = launch::catalog(&project);
    let mut out = crate::output::stdout();
    if format == TextOrJson::Json {
        let list = TargetList { targets: catalog.iter().map(listed).collect(), ..TargetList::default() };
        write!(out, "{}", schema::json::pretty(&list)?)?;
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
        writeln!(
            out,
            "\nwithout a folder: reference = {{ … }}, the target inside prony with a known law of service time"
        )?;
    }
    Ok(exit::DONE)
}

fn lines(entry: &CatalogEntry) -> String {
    match &entry.manifest {
        Err(error) => format!("{:<18} its manifest is wrong: {error}\n", entry.name),
        Ok(manifest) => {
            let mut text = format!("{:<18} {}\n", entry.name, manifest.description);
            text += &format!("{:<18} routes: {}\n", "", manifest.provides.join(", "));
            if !manifest.knob.is_empty() {
                let names: Vec<&str> = manifest.knob.iter().map(|knob| knob.name.as_str()).collect();
                text += &format!("{:<18} knobs: {}\n", "", names.join(", "));
            }
            for need in entry.needs.iter().filter(|need| !need.present) {
                text += &format!("{:<18} missing: {} - {}\n", "", need.program, need.install);
            }
            text
        }
    }
}

fn listed(entry: &CatalogEntry) -> TargetListEntry {
    let need = |need: &NeedState| TargetListNeed {
        program: need.program.clone(),
        present: need.present,
        found: need.found.as_ref().map(|path| path.display().to_string()),
        install: need.install.clone(),
    };
    let manifest = entry.manifest.as_ref().ok();
    TargetListEntry {
        name: entry.name.clone(),
        folder: entry.folder.display().to_string(),
        description: manifest.map(|manifest| manifest.description.clone()),
        language: manifest.map(|manifest| manifest.language.clone()),
        provides: manifest.map(|manifest| manifest.provides.clone()).unwrap_or_default(),
        knobs: manifest.map(|manifest| manifest.knob.clone()).unwrap_or_default(),
        error: entry.manifest.as_ref().err().map(ToString::to_string),
        needs: entry.needs.iter().map(need).collect(),
    }
}
