//! `prony model`: what is in access logs, and a scenario and a load that reproduce it.

use crate::args::{ModelArgs, SendAs, TextOrJson};
use crate::{exit, output};
use anyhow::{Result, bail};
use plan::net::HttpUrl;
use runner::RunnerError;
use serde::Serialize;
use std::path::Path;
use traffic::log::SessionKey;
use traffic::model::Model;
use traffic::session::{Sessions, Wishes};
use traffic::verdict::{Advice, Verdict};
use traffic::write::Written;
use units::{Nanos, Seed};

/// What is printed for machines.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    model: &'a Model,
    verdict: &'a Verdict,
    written: Vec<String>,
    written_notes: &'a [String],
}

/// The same of sessions.
#[derive(Serialize)]
struct PrintedSessions<'a> {
    schema: &'static str,
    #[serde(flatten)]
    sessions: &'a Sessions,
    verdict: &'a Verdict,
    written: Vec<String>,
    written_notes: &'a [String],
}

pub(crate) fn model(args: &ModelArgs) -> Result<u8> {
    let seed = Seed(args.seed);
    if args.out.is_some() {
        check_origin(&args.url)?;
    }
    if let Some(key) = &args.sessions_by {
        return sessions(args, key, seed);
    }
    let model = traffic::model::model(&args.logs, args.format.wanted(), seed)?;
    let verdict = traffic::verdict::judge(&model, seed);
    let written = args.out.as_deref().map(|folder| write(args, folder, &model, &verdict)).transpose()?;
    let (files, notes) = written.unwrap_or_default();
    let text = match args.output_format {
        TextOrJson::Text => {
            let is_utf8 = crate::shape::draw::is_utf8();
            traffic::summary::text(&model, &verdict, is_utf8)
                + &list("written", &files)
                + &list("before you run it", &notes)
        }
        TextOrJson::Json => {
            let printed = Printed { model: &model, verdict: &verdict, written: files, written_notes: &notes };
            schema::json::pretty(&printed)?
        }
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

/// Sessions by a key instead of single requests.
fn sessions(args: &ModelArgs, key: &SessionKey, seed: Seed) -> Result<u8> {
    if args.session_timeout == Nanos::ZERO {
        bail!(
            "--session-timeout is 0, so no session has two requests\n  remedy: give a time, for example 30m"
        );
    }
    let wishes = Wishes { key: key.clone(), timeout: args.session_timeout };
    let sessions = traffic::session::sessions(&args.logs, args.format.wanted(), &wishes, seed)?;
    let verdict = traffic::verdict::judge(&sessions.starts, seed);
    let written = args.out.as_deref().map(|folder| {
        let advice = advice(args, &verdict)?;
        let written =
            traffic::session::files(&sessions, &verdict, advice, &name(args), &args.url, Seed(args.seed))?;
        put(folder, written)
    });
    let (files, notes) = written.transpose()?.unwrap_or_default();
    let text = match args.output_format {
        TextOrJson::Text => {
            traffic::session::summary::text(&sessions, &verdict)
                + &list("written", &files)
                + &list("before you run it", &notes)
        }
        TextOrJson::Json => schema::json::pretty(&PrintedSessions {
            schema: traffic::session::SESSIONS_VERSION,
            sessions: &sessions,
            verdict: &verdict,
            written: files,
            written_notes: &notes,
        })?,
    };
    output::write(None, &text)?;
    Ok(exit::DONE)
}

fn list(heading: &str, items: &[String]) -> String {
    match items {
        [] => String::new(),
        items => items.iter().fold(format!("\n{heading}\n"), |text, item| text + "  - " + item + "\n"),
    }
}

/// The written experiment must be one that `prony run` takes.
fn check_origin(url: &str) -> Result<()> {
    let parsed = HttpUrl::parse(url).map_err(RunnerError::from)?;
    if parsed.path != "/" {
        bail!(
            "--url {url} has a path, and paths come from the log\n  remedy: give --url {}",
            parsed.origin()
        );
    }
    Ok(())
}

/// Writes the files; their paths but for feeders, and what a user must know.
fn write(
    args: &ModelArgs,
    folder: &Path,
    model: &Model,
    verdict: &Verdict,
) -> Result<(Vec<String>, Vec<String>)> {
    let advice = advice(args, verdict)?;
    put(folder, traffic::write::files(model, verdict, advice, &name(args), &args.url, Seed(args.seed))?)
}

fn advice(args: &ModelArgs, verdict: &Verdict) -> Result<Advice> {
    Ok(match args.send {
        SendAs::Auto => verdict.advice,
        SendAs::Fitted if verdict.arrivals.is_none() => {
            bail!("no law could be fitted to this log\n  remedy: use --send recorded")
        }
        SendAs::Fitted => Advice::Fitted,
        SendAs::Recorded => Advice::Recorded,
    })
}

/// The name of what is written.
fn name(args: &ModelArgs) -> String {
    let stem = args.logs[0].file_name().and_then(|name| name.to_str()).unwrap_or("log");
    let stem = stem.split('.').next().unwrap_or(stem);
    args.name.as_deref().unwrap_or(stem).to_owned()
}

/// Writes the files; their paths, and what a user must know.
fn put(folder: &Path, written: Written) -> Result<(Vec<String>, Vec<String>)> {
    traffic::write::write(&written, folder)?;
    let paths = written.files.iter().map(|file| &file.path);
    let mut shown: Vec<String> = paths
        .filter(|path| path.parent().is_none_or(|parent| !parent.to_string_lossy().ends_with("-paths")))
        .map(|path| folder.join(path).display().to_string())
        .collect();
    shown.push(format!("run it: prony run {}", folder.join(&written.experiment).display()));
    Ok((shown, written.notes))
}
