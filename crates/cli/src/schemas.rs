//! `prony schema`: the JSON Schemas of all file formats, generated from the types that read and write them.

use crate::args::SchemaArgs;
use crate::exit;
use anyhow::{Context as _, Result, bail};
use schema::text::nearest;
use std::io::Write;

pub(crate) fn schema(args: &SchemaArgs) -> Result<u8> {
    let mut out = crate::output::stdout();
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for name in assets::formats() {
            let path = folder.join(format!("{name}.schema.json"));
            std::fs::write(&path, assets::schema(name).unwrap_or_default())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        return Ok(exit::DONE);
    }
    let Some(wanted) = &args.name else {
        for name in assets::formats() {
            writeln!(out, "{name}")?;
        }
        return Ok(exit::DONE);
    };
    match assets::schema(wanted) {
        Some(schema) => write!(out, "{schema}")?,
        None => match nearest(wanted, assets::formats()) {
            Some(near) => bail!("there is no format `{wanted}`; did you mean `{near}`?"),
            None => bail!("there is no format `{wanted}`; `prony schema` lists them"),
        },
    }
    Ok(exit::DONE)
}
