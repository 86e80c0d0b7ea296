//! What is published, and what is not.

use std::fs;
use std::path::Path;

use super::*;
use crate::exit::Failure;

const HEADER: [&str; 3] = ["a", "b", "c"];

fn pending(path: &Path, replace: bool) -> PendingCsv {
    PendingCsv::create(Target::at(path, replace, &Reserved::default()).unwrap(), HEADER).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_pending_file_has_no_name_until_it_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut pending = pending(&path, false);
    pending.write(["1", "2", "3"]).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    pending.publish().unwrap();
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b,c\n1,2,3\n");
}

#[test]
fn a_file_that_exists_is_replaced_only_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    assert!(matches!(Target::at(&path, false, &Reserved::default()), Err(Failure::Exists(_))));
    pending(&path, true).publish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b,c\n");
}

/// The new file may be the store under another name, so `--force` must not replace it.
#[test]
fn a_file_that_appears_during_the_work_stays_even_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for replace in [false, true] {
        let pending = pending(&path, replace);
        fs::write(&path, "mine").unwrap();
        assert!(matches!(pending.publish(), Err(Failure::Exists(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_folder_that_appears_during_the_work_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let pending = pending(&path, false);
    fs::create_dir(&path).unwrap();
    pending.publish().unwrap_err();
    assert_eq!(names(folder.path()), ["out"]);
}
