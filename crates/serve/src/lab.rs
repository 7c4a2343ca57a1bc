//! What all requests share.

use crate::access::Access;
use crate::assets::Assets;
use crate::error::ApiError;
use crate::live::Hub;
use crate::pages::Pages;
use crate::quiet::Quiet;
use crate::starts::Starts;
use axum::http::StatusCode;
use export::Feed;
use index::Index;
use record::RunFolder;
use schema::lab::RunCard;
use schema::said;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The index looks at the folders at most this often.
const REFRESH_EVERY: Duration = Duration::from_millis(800);
/// Most files of a run folder that are looked at for links.
const FILES_MAX: usize = 200_000;

/// The state of the server.
pub(crate) struct Lab {
    pub(crate) runs: PathBuf,
    pub(crate) experiments: Option<PathBuf>,
    pub(crate) access: Access,
    pub(crate) assets: Assets,
    pub(crate) hub: Hub,
    pub(crate) starts: Starts,
    pub(crate) pages: Pages,
    pub(crate) quiet: Option<Quiet>,
    /// What `/metrics` exports.
    pub(crate) feed: Mutex<Feed>,
    /// Held from the look at what runs to the start of another.
    pub(crate) starting: Mutex<()>,
    /// Held while the answer to a wrong token waits.
    pub(crate) guesses: tokio::sync::Mutex<()>,
    index: Mutex<Refreshed>,
}

/// As handlers get it.
pub(crate) type Shared = Arc<Lab>;

struct Refreshed {
    index: Index,
    at: Option<Instant>,
}

/// What a lab is made of.
pub(crate) struct Parts {
    pub(crate) runs: PathBuf,
    pub(crate) experiments: Option<PathBuf>,
    pub(crate) access: Access,
    pub(crate) assets: Assets,
    pub(crate) starts: Starts,
    pub(crate) quiet: Option<Quiet>,
    pub(crate) index: Index,
}

impl Lab {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            feed: Mutex::new(Feed::new(&parts.runs)),
            runs: parts.runs,
            experiments: parts.experiments,
            access: parts.access,
            assets: parts.assets,
            hub: Hub::default(),
            starts: parts.starts,
            pages: Pages::default(),
            quiet: parts.quiet,
            starting: Mutex::new(()),
            guesses: tokio::sync::Mutex::new(()),
            index: Mutex::new(Refreshed { index: parts.index, at: None }),
        }
    }

    /// The index, brought up to date unless that was done a moment ago. Waits for files.
    pub(crate) fn index(&self) -> Result<impl std::ops::DerefMut<Target = Index> + '_, ApiError> {
        let mut held = self.lock()?;
        if held.at.is_none_or(|at| at.elapsed() >= REFRESH_EVERY) {
            held.index.refresh()?;
            held.at = Some(Instant::now());
        }
        Ok(Held(held))
    }

    /// The index is old from here on: something was changed on purpose.
    pub(crate) fn outdate(&self) {
        if let Ok(mut held) = self.lock() {
            held.at = None;
        }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Refreshed>, ApiError> {
        self.index.lock().map_err(|_| {
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                said!("lab.index_in_change", "the index was left in the middle of a change"),
                said!("lab.start_again", "start prony serve again"),
            )
        })
    }

    /// The folder of a run by its name, without links in it that could lead elsewhere.
    pub(crate) fn folder(&self, id: &str) -> Result<RunFolder, ApiError> {
        let path = index::run_folder(&self.runs, id)?;
        refuse_links(&path)?;
        Ok(RunFolder::open(&path)?)
    }

    /// The card of a run as it is now, with its labels.
    pub(crate) fn card(&self, id: &str) -> Result<RunCard, ApiError> {
        let path = index::run_folder(&self.runs, id)?;
        let mut card = index::card_of(&path);
        if let Some(known) = self.index()?.card(id)? {
            card.tags = known.tags;
            card.note = known.note;
        }
        Ok(card)
    }
}

/// The index within its lock.
struct Held<'a>(MutexGuard<'a, Refreshed>);

impl std::ops::Deref for Held<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.0.index
    }
}

impl std::ops::DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Index {
        &mut self.0.index
    }
}

/// A run folder may come from anywhere: a link in it could show any file of this user.
fn refuse_links(path: &Path) -> Result<(), ApiError> {
    let mut folders = vec![path.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| ApiError::io(&folder, &error))?;
        for entry in entries.flatten() {
            seen += 1;
            let kind = entry.file_type().map_err(|error| ApiError::io(&entry.path(), &error))?;
            if kind.is_symlink() || seen > FILES_MAX {
                let name = entry.file_name().to_string_lossy().into_owned();
                let cause = match kind.is_symlink() {
                    true => said!("lab.holds_link", "the run folder holds a link: {name}", name),
                    false => said!("lab.holds_too_much", "the run folder holds too many files: {name}", name),
                };
                return Err(ApiError::new(
                    StatusCode::FORBIDDEN,
                    cause,
                    said!(
                        "lab.follows_no_links",
                        "the lab follows no links; copy the file in place of the link, or look at the run by prony report"
                    ),
                ));
            }
            if kind.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}
