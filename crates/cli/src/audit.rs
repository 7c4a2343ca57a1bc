//! `prony audit`: a published table of results, row by row against the laws that every measurement obeys.

use crate::args::{AuditArgs, AuditFormat};
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use audit::{Options, TEXT_BYTES_MAX};
use schema::audit::AuditReport;
use std::io::Read as _;
use std::path::Path;

pub(crate) fn audit(args: &AuditArgs) -> Result<u8> {
    let is_stdin = args.file.as_os_str() == "-";
    let label = if is_stdin { "standard input".to_owned() } else { args.file.display().to_string() };
    let text = text(&args.file, is_stdin, &label)?;
    let options = Options {
        input: args.input_format.form(),
        columns: args.columns.clone(),
        given: args.given.clone(),
        load: args.load.said(),
    };
    let report = ::audit::audit(&label, &text, &options)?;
    output::write(args.output.as_deref(), &shown(args, &report)?)?;
    Ok(if report.counts.impossible > 0 { exit::CLAIM } else { exit::DONE })
}

fn shown(args: &AuditArgs, found: &AuditReport) -> Result<String> {
    Ok(match args.format {
        AuditFormat::Text => report::audit_text(found, output::style(args.output.as_deref()), args.all),
        AuditFormat::Markdown => report::audit_markdown(found),
        AuditFormat::Json => schema::json::pretty(found)?,
    })
}

/// No more is read than will be looked at, whatever the file's size.
fn text(file: &Path, is_stdin: bool, label: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = TEXT_BYTES_MAX as u64 + 1;
    let read = match is_stdin {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.with_context(|| format!("cannot read {label}"))?;
    if bytes.len() > TEXT_BYTES_MAX {
        bail!(
            "{label}: it is larger than {} MiB\n  remedy: keep the table and leave the rest out",
            TEXT_BYTES_MAX >> 20
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow::anyhow!(
            "{label}:{line}: it is not UTF-8\n  remedy: convert it, for example with iconv -f GB18030 -t UTF-8"
        )
    })
}
