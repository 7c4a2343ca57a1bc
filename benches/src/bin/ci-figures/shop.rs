//! The repository that is judged: a service whose CPU time an answer is that of a file, in three commits.
//!
//! Invariant: all that is made lies in one temporary folder and goes with it.

use crate::args::Settings;
use crate::row::Kind;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The commit that is held against.
pub(crate) const BASE: &str = "main";
const SERVE: &str = "exec \"$PRONY\" reference --listen \"$1\" --burn \"$(cat service)\"\n";

/// A repository, and beside it the place of what its runs leave.
pub(crate) struct Shop {
    folder: TempDir,
}

impl Shop {
    /// Makes base, a commit that changes nothing of the service, and one that is slower.
    ///
    /// # Errors
    /// There is no git, or no room.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Box<dyn Error>> {
        let shop = Self { folder: tempfile::Builder::new().prefix("ci-figures-").tempdir()? };
        for name in ["repository/cmd", "tmp"] {
            fs::create_dir_all(shop.at(name))?;
        }
        shop.git(&["init", "--quiet", "--initial-branch", BASE])?;
        fs::write(shop.at("repository/cmd/serve.sh"), SERVE)?;
        fs::write(shop.at("repository/.gitignore"), "cmd/service\n")?;
        shop.commit("cmd/wanted", &time(settings.service_ns))?;
        shop.git(&["checkout", "--quiet", "-b", Kind::Equal.name()])?;
        shop.commit("notes.txt", "nothing of the service\n")?;
        shop.git(&["checkout", "--quiet", "-b", Kind::Planted.name(), BASE])?;
        shop.commit("cmd/wanted", &time(settings.planted_ns))?;
        Ok(shop)
    }

    /// A place in the temporary folder.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn commit(&self, file: &str, text: &str) -> Result<(), Box<dyn Error>> {
        fs::write(self.at("repository").join(file), text)?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", &format!("{file}: {text}")])
    }

    fn git(&self, words: &[&str]) -> Result<(), Box<dyn Error>> {
        let nobody = ["user.name=nobody", "user.email=nobody@localhost", "commit.gpgsign=false"];
        let output = Command::new("git")
            .args(nobody.iter().flat_map(|setting| ["-c", setting]))
            .args(words)
            .current_dir(self.at("repository"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .map_err(|error| format!("cannot start git: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("git {words:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}

/// As `prony reference` reads it.
fn time(ns: u64) -> String {
    format!("{ns}ns")
}
