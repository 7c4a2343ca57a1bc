//! CSV data sets as feeders.
//!
//! A row is one for a session in prony as it is for an iteration in JMeter.

use super::element::Element;
use super::plan::Context;
use super::values::column_of;
use crate::error::Problem;
use schema::scenario::{Feeder, FeederFormat, FeederOrder};
use std::collections::BTreeMap;

/// Adds a data set, and its variables.
pub(super) fn add(
    element: &Element<'_>,
    feeders: &mut BTreeMap<String, Feeder>,
    context: &mut Context<'_>,
) -> Result<(), Problem> {
    let file = context.plain(element, element.value("filename").unwrap_or_default())?;
    let Some(file) = file.filter(|file| !file.is_empty() && !file.chars().any(char::is_control)) else {
        context.leave_out(element, "its file is known only during the load");
        return Ok(());
    };
    let delimiter = match element.properties().value("delimiter").unwrap_or(",") {
        "" | "," => None,
        "\\t" | "\t" => Some("\t".to_owned()),
        other if other.len() == 1 => Some(other.to_owned()),
        _ => {
            context.leave_out(element, "its delimiter is no single byte");
            return Ok(());
        }
    };
    let names: Vec<String> = element
        .value("variableNames")
        .map(|text| text.split(',').map(|name| name.trim().to_owned()).collect())
        .unwrap_or_default();
    let has_header = element.is("ignoreFirstLine") || names.is_empty();
    let name = context.values.fresh(stem(&file));
    if names.is_empty() {
        context
            .change(element, "its first line names its variables: what nothing else sets is a column of it");
        context.values.columns_of = Some(name.clone());
    } else if has_header {
        let how = format!("the first line of the file names its columns, and must be {}", names.join(","));
        context.change(element, &how);
    }
    if !matches!(element.value("shareMode"), None | Some("shareMode.all")) {
        context.change(element, "its rows are shared by all users");
    }
    let encoding = element.value("fileEncoding").unwrap_or("UTF-8");
    if !["UTF-8", "UTF8", "US-ASCII"].iter().any(|known| encoding.eq_ignore_ascii_case(known)) {
        context.change(element, "its file is read as UTF-8");
    }
    let recycles = element.value("recycle") != Some("false");
    if !recycles && !element.is("stopThread") {
        context.change(element, "where its rows end, sessions end, and no <EOF> is sent");
    }
    for column in names.iter().filter(|column| !column.is_empty()) {
        context.values.expressions.insert(column.clone(), column_of(&name, column));
    }
    let feeder = Feeder {
        file,
        format: Some(FeederFormat::Csv),
        delimiter,
        columns: (!has_header).then_some(names),
        order: if recycles { FeederOrder::Sequential } else { FeederOrder::Unique },
    };
    feeders.insert(name, feeder);
    Ok(())
}

/// The name of a file without its folders and its ending.
fn stem(file: &str) -> &str {
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    stem.rsplit_once('.').map_or(stem, |(before, _)| before)
}
