//! `prony schema`: the JSON Schemas of all file formats, generated from the types that read and write them.

use crate::args::SchemaArgs;
use crate::exit;
use anyhow::{Context as _, Result, bail};
use schema::text::nearest;
use std::io::Write;

pub(crate) fn schema(args: &SchemaArgs) -> Result<u8> {
    let schemas = schema::json_schemas();
    let mut out = crate::output::stdout();
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (name, schema) in &schemas {
            let path = folder.join(format!("{name}.schema.json"));
            let text = schema::json::pretty(schema)?;
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        return Ok(exit::DONE);
    }
    let Some(wanted) = &args.name else {
        for (name, _) in &schemas {
            writeln!(out, "{name}")?;
        }
        return Ok(exit::DONE);
    };
    match schemas.iter().find(|(name, _)| name == wanted) {
        Some((_, schema)) => write!(out, "{}", schema::json::pretty(schema)?)?,
        None => match nearest(wanted, schemas.iter().map(|(name, _)| *name)) {
            Some(near) => bail!("there is no format `{wanted}`; did you mean `{near}`?"),
            None => bail!("there is no format `{wanted}`; `prony schema` lists them"),
        },
    }
    Ok(exit::DONE)
}
