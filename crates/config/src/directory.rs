//! Checks the data directory without leaving files in it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Returns the problem of a data directory; `None` if the directory can be used. If the directory exists, it must be writable. Otherwise
/// its nearest existing ancestor must be writable.
#[must_use]
pub fn problem(directory: &Path) -> Option<String> {
    let shown = directory.display();
    match fs::metadata(directory) {
        Ok(found) if !found.is_dir() => Some(format!("`{shown}` is not a directory")),
        Ok(_) => probe(directory).err().map(|error| format!("`{shown}` cannot be written: {error}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = nearest_existing(directory);
            let cannot = |why: String| Some(format!("`{shown}` cannot be made: {why}"));
            match fs::metadata(above) {
                Ok(found) if !found.is_dir() => cannot(format!("`{}` is not a directory", above.display())),
                Ok(_) => probe(above).err().and_then(|error| cannot(format!("in `{}`: {error}", above.display()))),
                Err(error) => cannot(error.to_string()),
            }
        }
        Err(error) => Some(format!("`{shown}` cannot be used: {error}")),
    }
}

fn nearest_existing(directory: &Path) -> &Path {
    let above = directory.ancestors().skip(1).find(|above| above.exists());
    // The last ancestor of a relative path is empty, which means the working directory.
    above.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file and removes it at once. The permissions alone do not show whether a file can be created: the user may be root, or the
/// mount read-only.
fn probe(directory: &Path) -> io::Result<()> {
    let file = directory.join(format!(".cais-check-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&file)?;
    fs::remove_file(file)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn directory_check_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for (directory, expected) in [
            (folder.path().to_owned(), None),
            (folder.path().join("a/b"), None),
            (file.clone(), Some("is not a directory")),
            (file.join("a/b"), Some("Not a directory")),
            ("/proc/cais".into(), Some("cannot be made")),
            ("data-that-nobody-made".into(), None),
        ] {
            let found = problem(&directory);
            match expected {
                None => assert_eq!(found, None, "{directory:?}"),
                Some(words) => assert!(found.as_ref().unwrap().contains(words), "{directory:?}: {found:?}"),
            }
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(!Path::new("data-that-nobody-made").exists());
    }
}
