//! The repository: what references mean, and both commits checked out beside it.
//!
//! Invariant: the user's working tree and index are never touched. The trees are git worktrees in a temporary folder,
//! removed at the end; those of a prony that was killed are removed by the next one.

use anyhow::{Context as _, Result, bail};
use schema::ci::CiCommit;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Names of folders of trees begin so; the process that made them comes next.
const PREFIX: &str = "prony-ci-";

/// A repository with a working tree.
pub(super) struct Repository {
    top: PathBuf,
}

impl Repository {
    /// The one that the current folder is in.
    pub(super) fn here() -> Result<Self> {
        let top = git(Path::new("."), &["rev-parse", "--show-toplevel"])
            .context("prony ci compares two commits of the repository that it is run in")?;
        Ok(Self { top: PathBuf::from(top) })
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// What a reference means.
    pub(super) fn commit(&self, reference: &str) -> Result<CiCommit> {
        let named = format!("{reference}^{{commit}}");
        let found = git(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &named]);
        let Ok(commit) = found else {
            bail!(
                "there is no commit `{reference}` in {}\n  remedy: {}",
                self.top.display(),
                if self.is_shallow() {
                    "this clone has not the whole history; fetch what is held against, for example with fetch-depth: 0 \
                     of actions/checkout"
                } else {
                    "name a branch, a tag or a commit; `git fetch` brings what only the server has"
                }
            );
        };
        let subject = git(&self.top, &["log", "-1", "--format=%s", "--end-of-options", &commit])?;
        Ok(CiCommit { reference: reference.to_owned(), commit, subject })
    }

    fn is_shallow(&self) -> bool {
        git(&self.top, &["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    /// Whether tracked files differ from the last commit.
    pub(super) fn is_changed(&self) -> bool {
        git(&self.top, &["status", "--porcelain", "--untracked-files=no"]).is_ok_and(|text| !text.is_empty())
    }

    /// Removes the trees that killed processes have left.
    fn sweep(&self) {
        let listed = git(&self.top, &["worktree", "list", "--porcelain"]).unwrap_or_default();
        for tree in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            if owner(Path::new(tree)).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                self.remove(Path::new(tree));
                // Empty once both are gone.
                let _ = Path::new(tree).parent().map(std::fs::remove_dir);
            }
        }
        let _ = git(&self.top, &["worktree", "prune"]);
    }

    fn remove(&self, tree: &Path) {
        let tree = tree.display().to_string();
        // What resists is tried again by the next sweep.
        let _ = git(&self.top, &["worktree", "remove", "--force", &tree]);
    }
}

/// The process that made a tree, where one of these did.
fn owner(tree: &Path) -> Option<u32> {
    let folder = tree.parent()?.file_name()?.to_str()?;
    folder.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Both commits as they are in the repository. Their paths are of one length: that of a program's path can move its
/// numbers (Mytkowicz et al., ASPLOS 2009).
pub(super) struct Trees<'a> {
    repository: &'a Repository,
    folder: TempDir,
}

impl<'a> Trees<'a> {
    pub(super) fn make(repository: &'a Repository, base: &CiCommit, head: &CiCommit) -> Result<Self> {
        repository.sweep();
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let folder =
            tempfile::Builder::new().prefix(&prefix).tempdir().context("cannot make a temporary folder")?;
        let trees = Self { repository, folder };
        for (tree, commit) in [(trees.base(), base), (trees.head(), head)] {
            let place = tree.display().to_string();
            git(
                &repository.top,
                &["worktree", "add", "--quiet", "--detach", "--force", &place, &commit.commit],
            )
            .with_context(|| format!("{} could not be checked out", commit.reference))?;
        }
        Ok(trees)
    }

    pub(super) fn base(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    pub(super) fn head(&self) -> PathBuf {
        self.folder.path().join("head")
    }
}

impl Drop for Trees<'_> {
    fn drop(&mut self) {
        self.repository.remove(&self.base());
        self.repository.remove(&self.head());
    }
}

/// What a command of git prints, without the line's end.
fn git(folder: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).stdin(Stdio::null()).output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("git is not on PATH\n  remedy: apt-get install git")
        }
        Err(error) => return Err(error).context("git could not be started"),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("git {} failed: {}", words.first().unwrap_or(&""), report::clean_lines(said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_names_its_owner() {
        let found = |path: &str| owner(Path::new(path));
        assert_eq!(found("/tmp/prony-ci-123-abc/base"), Some(123));
        assert_eq!(found("/tmp/prony-ci-x/base"), None);
        assert_eq!(found("/home/me/work"), None);
        assert_eq!(found("/"), None);
    }
}
