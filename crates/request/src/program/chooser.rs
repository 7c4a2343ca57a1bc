//! Which request is next where the rows of a feeder say so: a log that is sent again in its order.

use super::error::{MakeCause, ProgramError};
use crate::template::node::Node;
use schema::plan::ScenarioPlan;
use schema::text::nearest;
use std::collections::HashMap;

/// The column that names requests, and their places by name.
#[derive(Debug)]
pub(super) struct Chooser {
    pub(super) feeder: u16,
    pub(super) column: u16,
    entries: HashMap<Box<[u8]>, u16>,
}

impl Chooser {
    /// `None` where the plan chooses by weight or has a session. `columns` are those of each feeder.
    pub(super) fn new(
        plan: &ScenarioPlan,
        columns: &[(String, Vec<String>)],
    ) -> Result<Option<Self>, ProgramError> {
        let Some(choose) = &plan.choose else { return Ok(None) };
        let wrong = |cause: String, remedy: String| ProgramError::new("choose", cause, remedy);
        let Some((name, column)) = choose.split_once('.') else {
            return Err(wrong(format!("`{choose}` names no column"), "write FEEDER.COLUMN".into()));
        };
        let Some(feeder) = columns.iter().position(|(known, _)| known == name) else {
            let all = columns.iter().map(|(known, _)| known.as_str());
            let remedy = nearest(name, all)
                .map_or_else(|| format!("add [feeders.{name}]"), |near| format!("did you mean `{near}`?"));
            return Err(wrong(format!("there is no feeder `{name}`"), remedy));
        };
        let Some(column) = columns[feeder].1.iter().position(|known| known == column) else {
            let remedy = format!("name one of: {}", columns[feeder].1.join(", "));
            return Err(wrong(format!("`{name}` has no column `{column}`"), remedy));
        };
        let named = plan.requests.iter().enumerate();
        let entries = named.map(|(place, entry)| (entry.name.as_bytes().into(), place as u16)).collect();
        Ok(Some(Self { feeder: feeder as u16, column: column as u16, entries }))
    }

    /// The column as expressions refer to it.
    pub(super) const fn column(&self) -> Node {
        Node::Column { feeder: self.feeder, column: self.column }
    }

    /// The entry of a name.
    pub(super) fn entry(&self, name: &[u8]) -> Result<u16, MakeCause> {
        self.entries.get(name).copied().ok_or(MakeCause::NoSuchRequest(self.feeder))
    }
}
