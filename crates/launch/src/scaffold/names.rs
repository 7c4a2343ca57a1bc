//! The names that a new target has of its own: manifest and documents, the Go module, the npm package.
//!
//! Only whole names are replaced, so that `gin` in a path of somebody else's module stays what it is.

use super::piece::Piece;

/// A text and what stands in its place.
type Change = (String, String);

/// What is replaced where.
pub(super) struct Rename {
    /// `language/name`, in every text.
    name: Change,
    /// The path of the Go module, in go.mod and in imports.
    module: Option<Change>,
    /// The line of the npm package's name.
    package: Option<Change>,
}

impl Rename {
    pub(super) fn new(old: &str, new: &str, pieces: &[Piece]) -> Self {
        let short = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
        let (old_short, new_short) = (short(old), short(new));
        let text = |path: &str| {
            let piece = pieces.iter().find(|piece| piece.path.as_os_str() == path)?;
            std::str::from_utf8(&piece.bytes).ok()
        };
        let module = text("go.mod").and_then(module_of).and_then(|module| {
            let prefix = module.strip_suffix(&old_short)?;
            Some((module.to_owned(), format!("{prefix}{new_short}")))
        });
        let package = text("package.json").and_then(package_of).map(|package| {
            let line = |name: &str| format!("\"name\": \"{name}\"");
            (line(&package), line(&package.replace(&old_short, &new_short)))
        });
        Self { name: (old.to_owned(), new.to_owned()), module, package }
    }

    /// The same file of the new target.
    pub(super) fn piece(&self, mut piece: Piece) -> Piece {
        // What is no text has no names.
        let Ok(text) = std::str::from_utf8(&piece.bytes) else { return piece };
        let mut text = whole(text, &self.name);
        let path = piece.path.to_string_lossy();
        let is_go = path == "go.mod" || path.ends_with(".go");
        if let Some(module) = self.module.as_ref().filter(|_| is_go) {
            text = whole_or_longer(&text, module);
        }
        let is_npm = path == "package.json" || path == "package-lock.json";
        if let Some((old, new)) = self.package.as_ref().filter(|_| is_npm) {
            text = text.replace(old, new);
        }
        piece.bytes = text.into_bytes();
        piece
    }
}

fn module_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("module ")).map(str::trim)
}

fn package_of(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(value.get("name")?.as_str()?.to_owned())
}

/// Replaces a name that is not a part of a longer one or of a path.
fn whole(text: &str, change: &Change) -> String {
    replace(text, change, |c| is_of_name(c) || c == '/')
}

/// Replaces a path that may go on below.
fn whole_or_longer(text: &str, change: &Change) -> String {
    replace(text, change, is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

fn replace(text: &str, (old, new): &Change, continues: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(old.as_str()) {
        let before = text[..at].chars().next_back();
        let after = text[at + old.len()..].chars().next();
        if before.is_some_and(|c| is_of_name(c) || matches!(c, '/' | '.')) || after.is_some_and(continues) {
            continue;
        }
        out.push_str(&text[from..at]);
        out.push_str(new);
        from = at + old.len();
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_change() {
        let change = ("go/gin".to_owned(), "go/mine".to_owned());
        assert_eq!(
            whole("name = \"go/gin\" # go/gin, github.com/go/gin go/ginger go/gin/x", &change),
            "name = \"go/mine\" # go/mine, github.com/go/gin go/ginger go/gin/x"
        );
        let module = ("p.dev/t/gin".to_owned(), "p.dev/t/mine".to_owned());
        assert_eq!(
            whole_or_longer("module p.dev/t/gin\n\"p.dev/t/gin/x\" \"p.dev/t/ginger\"", &module),
            "module p.dev/t/mine\n\"p.dev/t/mine/x\" \"p.dev/t/ginger\""
        );
    }
}
