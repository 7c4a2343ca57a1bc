//! The index itself: tables, incremental refresh and queries.
//!
//! Invariants: `user_version` says the version of the tables, and a file of another version, or one that is no
//! database, is rebuilt; a refresh reads only folders whose stamp changed; labels are a copy of their own file.

use crate::{INDEX_FILE, IndexError, Labels, folder};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params, params_from_iter};
use schema::lab::{HistoryValue, Label, RunCard, RunState, TagCount};
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the tables.
const VERSION: i64 = 1;
/// How long another process may hold the file.
const BUSY: Duration = Duration::from_secs(10);
/// Most words of a search that count.
const WORDS_MAX: usize = 16;

const TABLES: &str = "
CREATE TABLE run (
  id TEXT PRIMARY KEY, stamp TEXT, name TEXT NOT NULL, started_ns INTEGER NOT NULL, state TEXT NOT NULL,
  card TEXT NOT NULL, words TEXT NOT NULL
);
CREATE INDEX run_by_name ON run (name, started_ns, id);
CREATE INDEX run_by_start ON run (started_ns, id);
CREATE TABLE value (run TEXT NOT NULL, place INTEGER NOT NULL, value TEXT NOT NULL);
CREATE INDEX value_by_run ON value (run, place);
CREATE TABLE label (run TEXT PRIMARY KEY, tags TEXT NOT NULL, note TEXT NOT NULL, words TEXT NOT NULL);
CREATE TABLE tag (run TEXT NOT NULL, tag TEXT NOT NULL);
CREATE INDEX tag_by_name ON tag (tag, run);
";

/// Where the index is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Beside the run folders.
    File(PathBuf),
    /// In memory, because the folder cannot be written; the reason.
    Memory(String),
}

/// An index over one folder of runs.
#[derive(Debug)]
pub struct Index {
    runs: PathBuf,
    place: Place,
    database: Connection,
    labels: Labels,
    /// Stamp of the file of labels that the tables hold; absent before the first look.
    labels_seen: Option<Option<(std::time::SystemTime, u64)>>,
    notes: Vec<Said>,
}

/// What a refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Folders that were read.
    pub read: usize,
    /// Folders that are gone.
    pub removed: usize,
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words that must all occur in name, question, answer, targets, tags, note or folder name; case does not count.
    pub text: String,
    /// A tag that the run must have.
    pub tag: Option<String>,
    /// The name of its experiment.
    pub name: Option<String>,
    /// The state that it must be in.
    pub state: Option<RunState>,
    /// Most runs that are given.
    pub limit: u32,
    /// Runs that are left out at the begin.
    pub offset: u32,
}

/// An experiment by its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// Its runs that can be read.
    pub runs: u64,
    /// The newest of them.
    pub last: String,
}

impl Index {
    /// Opens the index of a folder of runs, or makes it; nothing is read until [`Index::refresh`].
    ///
    /// # Errors
    /// Neither a file nor memory can be had.
    pub fn open(runs: &Path) -> Result<Self, IndexError> {
        let (database, place) = database(runs)?;
        Ok(Self {
            runs: runs.to_owned(),
            place,
            database,
            labels: Labels::of(runs),
            labels_seen: None,
            notes: Vec::new(),
        })
    }

    /// Where it is kept.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What the reader must know besides.
    #[must_use]
    pub fn notes(&self) -> &[Said] {
        &self.notes
    }

    /// Brings the index up to date with the folders.
    ///
    /// # Errors
    /// The folder of runs or the file of labels cannot be read, or the database refuses.
    pub fn refresh(&mut self) -> Result<Refreshed, IndexError> {
        self.reopen_if_deleted()?;
        let (names, left_out) = folder::folders(&self.runs)?;
        self.notes.clear();
        if let Place::Memory(reason) = &self.place {
            self.notes.push(said!(
                "lab.index_in_memory",
                "the index is in memory only: {reason}",
                reason = Said::from(reason.as_str())
            ));
        }
        if left_out > 0 {
            self.notes.push(said!("lab.left_out_oldest", "left out the oldest {left_out} folders", left_out));
        }
        let known = self.known()?;
        let mut refreshed = Refreshed::default();
        let changes = self.database.transaction().map_err(broken(&self.place))?;
        let mut apply = || -> rusqlite::Result<()> {
            for name in known.keys().filter(|known| names.binary_search(known).is_err()) {
                forget(&changes, name)?;
                refreshed.removed += 1;
            }
            for name in &names {
                let path = self.runs.join(name);
                let stamp = folder::stamp(&path);
                if stamp.is_some() && known.get(name) == Some(&stamp) {
                    continue;
                }
                forget(&changes, name)?;
                keep(&changes, &folder::read(&path), stamp.as_deref())?;
                refreshed.read += 1;
            }
            Ok(())
        };
        apply().map_err(broken(&self.place))?;
        changes.commit().map_err(broken(&self.place))?;
        self.refresh_labels()?;
        Ok(refreshed)
    }

    /// A file that was deleted under an open index is rebuilt.
    fn reopen_if_deleted(&mut self) -> Result<(), IndexError> {
        if matches!(&self.place, Place::File(path) if !path.is_file()) {
            (self.database, self.place) = database(&self.runs)?;
            self.labels_seen = None;
        }
        Ok(())
    }

    fn known(&self) -> Result<BTreeMap<String, Option<String>>, IndexError> {
        let read = || {
            let mut statement = self.database.prepare("SELECT id, stamp FROM run")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(broken(&self.place))
    }

    /// Copies the labels again where their file changed.
    fn refresh_labels(&mut self) -> Result<(), IndexError> {
        let stamp = self.labels.stamp();
        if self.labels_seen == Some(stamp) {
            return Ok(());
        }
        let file = self.labels.read()?;
        let changes = self.database.transaction().map_err(broken(&self.place))?;
        let apply = || -> rusqlite::Result<()> {
            changes.execute_batch("DELETE FROM label; DELETE FROM tag;")?;
            file.runs.iter().try_for_each(|(run, label)| keep_label(&changes, run, label))
        };
        apply().map_err(broken(&self.place))?;
        changes.commit().map_err(broken(&self.place))?;
        self.labels_seen = Some(stamp);
        Ok(())
    }

    /// Keeps tags and note of a run.
    ///
    /// # Errors
    /// They are out of bounds, or cannot be written.
    pub fn set_label(&mut self, run: &str, said: Label) -> Result<Label, IndexError> {
        let kept = self.labels.set(run, said)?;
        self.refresh_labels()?;
        Ok(kept)
    }

    /// The runs that a query finds, newest first, and how many there are in all.
    ///
    /// # Errors
    /// The database refuses.
    pub fn search(&self, query: &Query) -> Result<(Vec<RunCard>, u64), IndexError> {
        let (condition, mut values) = condition(query);
        let from = format!("FROM run LEFT JOIN label ON label.run = run.id WHERE {condition}");
        let mut read = || -> rusqlite::Result<(Vec<RunCard>, u64)> {
            let count = format!("SELECT count(*) {from}");
            let total: i64 = self.database.query_row(&count, params_from_iter(&values), |row| row.get(0))?;
            let page = format!(
                "SELECT run.card, label.tags, label.note {from} ORDER BY started_ns DESC, id DESC LIMIT ? OFFSET ?"
            );
            values.extend([Value::from(query.limit), Value::from(query.offset)]);
            let mut statement = self.database.prepare(&page)?;
            let cards = statement.query_map(params_from_iter(&values), card)?;
            Ok((cards.collect::<rusqlite::Result<_>>()?, u64::try_from(total).unwrap_or_default()))
        };
        read().map_err(broken(&self.place))
    }

    /// The card of a run as it was at the last refresh.
    ///
    /// # Errors
    /// The database refuses.
    pub fn card(&self, run: &str) -> Result<Option<RunCard>, IndexError> {
        let found = self.database.query_row(
            "SELECT run.card, label.tags, label.note FROM run LEFT JOIN label ON label.run = run.id WHERE run.id = ?",
            [run],
            card,
        );
        found.optional().map_err(broken(&self.place))
    }

    /// All tags by name, with how many runs of this folder have them.
    ///
    /// # Errors
    /// The database refuses.
    pub fn tags(&self) -> Result<Vec<TagCount>, IndexError> {
        let text = "SELECT tag, count(*) FROM tag JOIN run ON run.id = tag.run GROUP BY tag ORDER BY tag";
        self.all(text, &[], |row| {
            Ok(TagCount { tag: row.get(0)?, runs: row.get::<_, i64>(1)?.unsigned_abs() })
        })
    }

    /// The experiments by name.
    ///
    /// # Errors
    /// The database refuses.
    pub fn experiments(&self) -> Result<Vec<Experiment>, IndexError> {
        // Of the other columns SQLite gives those of the row with the maximum.
        let text = "SELECT name, count(*), id, max(started_ns) FROM run WHERE state <> 'damaged' \
                    GROUP BY name ORDER BY name";
        self.all(text, &[], |row| {
            Ok(Experiment {
                name: row.get(0)?,
                runs: row.get::<_, i64>(1)?.unsigned_abs(),
                last: row.get(2)?,
            })
        })
    }

    /// Folders of the runs of an experiment, oldest first, and after them the damaged ones, whose name is not known.
    ///
    /// # Errors
    /// The database refuses.
    pub fn folders_of(&self, name: &str) -> Result<Vec<PathBuf>, IndexError> {
        let text = "SELECT id FROM run WHERE name = ? OR state = 'damaged' ORDER BY started_ns, id";
        self.all(text, &[&name], |row| Ok(self.runs.join(row.get::<_, String>(0)?)))
    }

    /// Damaged folders by name, with the cause.
    ///
    /// # Errors
    /// The database refuses.
    pub fn damaged(&self) -> Result<Vec<(PathBuf, String)>, IndexError> {
        let text = "SELECT id, card, NULL, NULL FROM run WHERE state = 'damaged' ORDER BY id";
        self.all(text, &[], |row| {
            let id: String = row.get(0)?;
            let card: RunCard = from_json(&row.get::<_, String>(1)?)?;
            Ok((self.runs.join(id), card.cause.unwrap_or_default().into()))
        })
    }

    /// Centres of the metrics of an experiment's runs, oldest run first.
    ///
    /// # Errors
    /// The database refuses.
    pub fn history_values(&self, name: &str) -> Result<Vec<HistoryValue>, IndexError> {
        let text = "SELECT value.value FROM value JOIN run ON run.id = value.run WHERE run.name = ? \
                    ORDER BY run.started_ns, run.id, value.place";
        self.all(text, &[&name], |row| from_json(&row.get::<_, String>(0)?))
    }

    /// The folder of a run that is named by a path, by its whole name, or by a part that only one name has.
    ///
    /// # Errors
    /// No run or several have it.
    pub fn resolve(&self, name: &str) -> Result<PathBuf, IndexError> {
        let text = "SELECT id FROM run WHERE instr(id, ?1) > 0 ORDER BY id = ?1 DESC, started_ns DESC, id DESC LIMIT 4";
        let found: Vec<String> = self.all(text, &[&name], |row| row.get(0))?;
        match &found[..] {
            [only] => Ok(self.runs.join(only)),
            [first, ..] if first == name => Ok(self.runs.join(first)),
            several => Err(IndexError::NoRun {
                name: name.to_owned(),
                runs: self.runs.clone(),
                remedy: match several {
                    [] => "name a run folder, or a part of its name; --runs says where they are".to_owned(),
                    several => format!("several have that in their names; name one: {}", several.join(", ")),
                },
            }),
        }
    }

    fn all<T>(
        &self,
        text: &str,
        values: &[&dyn rusqlite::ToSql],
        of_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, IndexError> {
        let read = || {
            let mut statement = self.database.prepare(text)?;
            let rows = statement.query_map(values, of_row)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        read().map_err(broken(&self.place))
    }
}

/// The file beside the runs, rebuilt where it is of another version or damaged; else memory.
fn database(runs: &Path) -> Result<(Connection, Place), IndexError> {
    let path = runs.join(INDEX_FILE);
    let refusal = match open_file(&path) {
        Ok(database) => return Ok((database, Place::File(path))),
        Err(error) => error,
    };
    // A damaged one may be thrown away; not so one that another process holds or that cannot be written.
    let is_damaged =
        matches!(refusal.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt));
    if is_damaged
        && fs::remove_file(&path).is_ok()
        && let Ok(database) = open_file(&path)
    {
        return Ok((database, Place::File(path)));
    }
    let place = Place::Memory(refusal.to_string());
    let memory = Connection::open_in_memory().and_then(|database| {
        database.execute_batch(TABLES)?;
        Ok(database)
    });
    Ok((memory.map_err(broken(&place))?, place))
}

fn open_file(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.busy_timeout(BUSY)?;
    // It can be rebuilt: a crash may cost it.
    database.execute_batch("PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;")?;
    // Taken at once, so that of two processes one makes the tables.
    database.execute_batch("BEGIN IMMEDIATE")?;
    let version: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != VERSION {
        for table in ["run", "value", "label", "tag"] {
            database.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        }
        database.execute_batch(TABLES)?;
        database.execute_batch(&format!("PRAGMA user_version = {VERSION}"))?;
    }
    database.execute_batch("COMMIT")?;
    Ok(database)
}

fn broken(place: &Place) -> impl FnOnce(rusqlite::Error) -> IndexError {
    let path = match place {
        Place::File(path) => path.clone(),
        Place::Memory(_) => PathBuf::from(":memory:"),
    };
    move |source| IndexError::Database { path, source }
}

fn forget(database: &Connection, run: &str) -> rusqlite::Result<()> {
    database.execute("DELETE FROM run WHERE id = ?", [run])?;
    database.execute("DELETE FROM value WHERE run = ?", [run])?;
    Ok(())
}

fn keep(database: &Connection, entry: &folder::Entry, stamp: Option<&str>) -> rusqlite::Result<()> {
    let card = &entry.card;
    let words = format!(
        "{} {} {} {} {}",
        card.id,
        card.name,
        card.question,
        card.answer.as_deref().unwrap_or_default(),
        card.targets.join(" ")
    );
    database.execute(
        "INSERT INTO run (id, stamp, name, started_ns, state, card, words) VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![
            card.id,
            stamp,
            card.name,
            entry.started_ns,
            card.state.key(),
            to_json(card)?,
            words.to_lowercase()
        ],
    )?;
    let mut insert = database.prepare("INSERT INTO value (run, place, value) VALUES (?, ?, ?)")?;
    for (place, value) in entry.values.iter().enumerate() {
        insert.execute(params![card.id, i64::try_from(place).unwrap_or(i64::MAX), to_json(value)?])?;
    }
    Ok(())
}

fn keep_label(database: &Connection, run: &str, label: &Label) -> rusqlite::Result<()> {
    let words = format!("{} {}", label.tags.join(" "), label.note).to_lowercase();
    database.execute(
        "INSERT INTO label (run, tags, note, words) VALUES (?, ?, ?, ?)",
        params![run, to_json(&label.tags)?, label.note, words],
    )?;
    for tag in &label.tags {
        database.execute("INSERT INTO tag (run, tag) VALUES (?, ?)", params![run, tag])?;
    }
    Ok(())
}

/// The condition of a query with its values. Words are looked for as they are: nothing in them is a pattern.
fn condition(query: &Query) -> (String, Vec<Value>) {
    let mut parts = vec!["1".to_owned()];
    let mut values = Vec::new();
    for word in query.text.split_whitespace().take(WORDS_MAX) {
        parts.push("instr(run.words || ' ' || coalesce(label.words, ''), ?) > 0".to_owned());
        values.push(Value::from(word.to_lowercase()));
    }
    let mut also = |part: &str, value: Option<String>| {
        if let Some(value) = value {
            parts.push(part.to_owned());
            values.push(Value::from(value));
        }
    };
    also("EXISTS (SELECT 1 FROM tag WHERE tag.run = run.id AND tag.tag = ?)", query.tag.clone());
    also("run.name = ?", query.name.clone());
    also("run.state = ?", query.state.map(|state| state.key().to_owned()));
    (parts.join(" AND "), values)
}

/// A card with its labels, of the columns card, tags and note.
fn card(row: &Row<'_>) -> rusqlite::Result<RunCard> {
    let mut card: RunCard = from_json(&row.get::<_, String>(0)?)?;
    if let Some(tags) = row.get::<_, Option<String>>(1)? {
        card.tags = from_json(&tags)?;
    }
    card.note = row.get::<_, Option<String>>(2)?.unwrap_or_default();
    Ok(card)
}

fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
