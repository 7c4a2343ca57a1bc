//! Copying a data directory: modes and, where prony is root, owners are kept; blocks are shared where the file
//! system can (`copy_file_range`, which the standard library uses).
//!
//! Absent on purpose: sockets and other special files, which a stopped service does not need.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::Path;

/// Copies the folder `from` to the new folder `to`.
pub(super) fn tree(from: &Path, to: &Path) -> io::Result<()> {
    let facts = fs::metadata(from)?;
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, source, copy) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            tree(&source, &copy)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &copy)?;
            keep_owner(&entry.metadata()?, |uid, gid| lchown(&copy, uid, gid))?;
        } else if kind.is_file() {
            fs::copy(&source, &copy)?;
            keep_owner(&entry.metadata()?, |uid, gid| chown(&copy, uid, gid))?;
        }
    }
    fs::set_permissions(to, facts.permissions())?;
    keep_owner(&facts, |uid, gid| chown(to, uid, gid))
}

/// Only root can give files away; anybody else's copies are rightly his own.
fn keep_owner(
    facts: &fs::Metadata,
    chown: impl FnOnce(Option<u32>, Option<u32>) -> io::Result<()>,
) -> io::Result<()> {
    if rustix::process::geteuid().is_root() { chown(Some(facts.uid()), Some(facts.gid())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_copy_has_the_same_files_links_and_modes() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("a");
        fs::create_dir_all(from.join("sub")).unwrap();
        fs::write(from.join("sub/f"), "text").unwrap();
        fs::set_permissions(from.join("sub/f"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o700)).unwrap();
        symlink("sub/f", from.join("link")).unwrap();
        let to = folder.path().join("b");
        tree(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "text");
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&to), mode(&to.join("sub/f"))), (0o700, 0o600));
        assert!(fs::symlink_metadata(to.join("link")).unwrap().is_symlink());
    }
}
