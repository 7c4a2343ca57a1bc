//! Which folders have the fonts of the system: those that fontconfig names, else those that are usual.
//!
//! Invariants: a file of a configuration is read once, and not more than a bounded number of them; what cannot be read
//! names nothing.
//! Absent on purpose: the rest of fontconfig. Which family stands for another is decided here (`sans`), since charts
//! ask for one only.

use resvg::usvg::roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Configurations and folders of them that are read; a distribution has about 60.
const FILES_MAX: usize = 1_000;
const USUAL: [&str; 4] = ["/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts"];

/// Where fonts are looked for.
pub(crate) fn folders() -> Vec<PathBuf> {
    let mut fontconfig = Fontconfig::new(|name| std::env::var_os(name));
    for file in fontconfig.first_files() {
        fontconfig.read(&file);
    }
    if fontconfig.folders.is_empty() {
        return USUAL.iter().filter_map(|folder| fontconfig.at_home(folder)).collect();
    }
    fontconfig.folders
}

struct Fontconfig {
    home: Option<PathBuf>,
    /// `FONTCONFIG_FILE`, which stands for all others.
    only: Option<PathBuf>,
    config: Option<PathBuf>,
    data: Option<PathBuf>,
    folders: Vec<PathBuf>,
    read: BTreeSet<PathBuf>,
}

impl Fontconfig {
    fn new(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = path("HOME");
        let below = |folder: &str| home.as_ref().map(|home| home.join(folder));
        Self {
            only: path("FONTCONFIG_FILE"),
            config: path("XDG_CONFIG_HOME").or_else(|| below(".config")),
            data: path("XDG_DATA_HOME").or_else(|| below(".local/share")),
            folders: Vec::new(),
            read: BTreeSet::new(),
            home,
        }
    }

    /// The user's before the system's.
    fn first_files(&self) -> Vec<PathBuf> {
        if let Some(only) = &self.only {
            return vec![only.clone()];
        }
        let own = self.config.iter().map(|config| config.join("fontconfig/fonts.conf"));
        own.chain(["/etc/fonts/local.conf", "/etc/fonts/fonts.conf"].map(PathBuf::from)).collect()
    }

    /// Takes up what a configuration names; one that is a folder has its `*.conf` read in the order of their names.
    fn read(&mut self, path: &Path) {
        let Ok(path) = &path.canonicalize() else { return };
        if self.read.len() >= FILES_MAX || !self.read.insert(path.clone()) {
            return;
        }
        if path.is_dir() {
            for file in configurations(path) {
                self.read(&file);
            }
            return;
        }
        let Ok(text) = fs::read_to_string(path) else { return };
        // Its files name the DTD of fontconfig.
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let Ok(document) = Document::parse_with_options(&text, options) else { return };
        let near = path.parent().unwrap_or(Path::new("/"));
        for node in document.root_element().children() {
            match node.tag_name().name() {
                "dir" => {
                    let folder = self.named(node, self.data.as_deref(), near);
                    self.folders.extend(folder.filter(|folder| !self.folders.contains(folder)));
                }
                "include" => {
                    if let Some(other) = self.named(node, self.config.as_deref(), near) {
                        self.read(&near.join(other));
                    }
                }
                _ => {}
            }
        }
    }

    /// The path of an element; what `prefix` says is what it begins with.
    fn named(&self, node: Node<'_, '_>, xdg: Option<&Path>, near: &Path) -> Option<PathBuf> {
        let text = node.text().map(str::trim).filter(|text| !text.is_empty())?;
        match node.attribute("prefix") {
            Some("xdg") => Some(xdg?.join(text)),
            Some("relative") => Some(near.join(text)),
            _ => self.at_home(text),
        }
    }

    /// `~` is the home folder; without one there is no such path.
    fn at_home(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix('~') {
            Some(rest) => Some(self.home.as_ref()?.join(rest.trim_start_matches('/'))),
            None => Some(PathBuf::from(path)),
        }
    }
}

fn configurations(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "conf")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'urn:fontconfig:fonts.dtd'>";

    fn at(folder: &Path) -> Fontconfig {
        let folder = folder.as_os_str().to_owned();
        Fontconfig::new(move |name| (name == "HOME").then(|| folder.clone()))
    }

    #[test]
    fn folders_are_followed_through_what_is_included() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().canonicalize().unwrap();
        fs::create_dir(path.join("conf.d")).unwrap();
        let first = format!(
            "{HEAD}<fontconfig><dir>/a</dir><dir prefix='xdg'>fonts</dir><dir>~/own</dir><dir>/a</dir>\
             <include ignore_missing='yes'>conf.d</include><include>absent.conf</include></fontconfig>"
        );
        fs::write(path.join("fonts.conf"), first).unwrap();
        let second =
            "<fontconfig><dir prefix='relative'>near</dir><include>../fonts.conf</include></fontconfig>";
        fs::write(path.join("conf.d/10.conf"), second).unwrap();
        fs::write(path.join("conf.d/20.conf"), "<fontconfig><dir>/b").unwrap();
        fs::write(path.join("conf.d/README"), "no XML").unwrap();
        let mut fontconfig = at(path);
        fontconfig.read(&path.join("fonts.conf"));
        let near = path.join("conf.d/near");
        let wanted = [PathBuf::from("/a"), path.join(".local/share/fonts"), path.join("own"), near];
        assert_eq!(fontconfig.folders, wanted);
    }

    #[test]
    fn the_users_configuration_comes_first_and_a_named_one_alone() {
        let files = at(Path::new("/home/x")).first_files();
        assert_eq!(files[0], Path::new("/home/x/.config/fontconfig/fonts.conf"));
        assert_eq!(files.len(), 3);
        let only = Fontconfig::new(|name| (name == "FONTCONFIG_FILE").then(|| "/one.conf".into()));
        assert_eq!(only.first_files(), [Path::new("/one.conf")]);
        assert_eq!(only.at_home("~/fonts"), None);
    }
}
