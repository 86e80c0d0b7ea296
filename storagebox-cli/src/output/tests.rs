//! What is left of a run that was killed, and what is not.

use std::fs;
use std::path::Path;

use super::*;
use crate::exit::Failure;
use crate::input::Source;

fn target(path: &Path) -> Target {
    Target::at(path, &Reserved::default()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file that is begun and never ended, as when its program is killed: the file is closed and its name stays.
fn left_behind(folder: &Path) -> String {
    let (file, name) = temporary::create(folder, 0o600).unwrap();
    let path = name.keep().unwrap();
    drop(file);
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    left_behind(folder.path());
    left_behind(folder.path());
    target(&folder.path().join("out"));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn what_somebody_still_writes_stays_until_it_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut pending = PendingCsv::create(target(&path), ["a", "b", "c"]).unwrap();
    target(&folder.path().join("other"));
    pending.write(["1", "2", "3"]).unwrap();
    assert_eq!(names(folder.path()).len(), 1);
    pending.publish().unwrap();
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,b,c\n1,2,3\n");
}

#[test]
fn what_only_looks_like_one_of_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ours = left_behind(folder.path());
    let mistaken = ours.replace(".storagebox-", ".storagebox-0");
    let altered = format!("{}0.tmp", &ours[..ours.len() - 5]).replace("00.tmp", "01.tmp");
    let others = [".storagebox-a.tmp", ".storagebox-given.tmp", &mistaken, &altered, ".storagebox-"];
    for name in others {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    #[cfg(unix)]
    {
        fs::write(folder.path().join("letter"), "mine").unwrap();
        fs::remove_file(folder.path().join(&ours)).unwrap();
        std::os::unix::fs::symlink("letter", folder.path().join(&ours)).unwrap();
    }
    let before = names(folder.path());
    target(&folder.path().join("out"));
    let is_kept = |name: &&String| cfg!(unix) || **name != ours;
    assert_eq!(names(folder.path()), before.iter().filter(is_kept).cloned().collect::<Vec<_>>());
}

/// Much may happen between the beginning of a run and its end.
#[test]
fn a_place_that_became_the_stores_meanwhile_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let [out, store] = ["out", "namespace.db"].map(|name| folder.path().join(name));
    fs::write(&store, "store").unwrap();
    let reserved = Reserved::of_store(std::slice::from_ref(&store));
    let pending = PendingCsv::create(Target::at(&out, &reserved).unwrap(), ["a", "b", "c"]).unwrap();
    fs::hard_link(&store, &out).unwrap();
    assert!(matches!(pending.publish(), Err(Failure::IsTheStores(_))));
    assert_eq!(fs::read_to_string(&out).unwrap(), "store");
    fs::remove_file(&out).unwrap();
    assert_eq!(names(folder.path()), ["namespace.db"]);
}

#[test]
fn a_place_that_became_a_folder_meanwhile_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let pending = PendingCsv::create(target(&out), ["a", "b", "c"]).unwrap();
    fs::create_dir(&out).unwrap();
    assert!(matches!(pending.publish(), Err(Failure::NotAFile(_))));
    assert_eq!(names(folder.path()), ["out"]);
}

/// A file that appears is somebody's, and so is one that was put there by its name.
#[test]
fn only_what_was_there_at_the_start_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [out, other] = ["out", "other"].map(|name| folder.path().join(name));
    for was_there in [false, true] {
        if was_there {
            fs::write(&out, "old").unwrap();
        }
        let pending = PendingCsv::create(target(&out), ["a", "b", "c"]).unwrap();
        fs::write(&other, "mine").unwrap();
        fs::rename(&other, &out).unwrap();
        pending.publish().unwrap_err();
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
        fs::remove_file(&out).unwrap();
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_store_or_an_input_that_was_renamed_to_the_output_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let [out, store, input] = ["out", "namespace.db", "in.csv"].map(|name| folder.path().join(name));
    for moved in [&store, &input] {
        fs::write(&store, "store").unwrap();
        fs::write(&input, "input").unwrap();
        let reserved = Reserved::of_store(std::slice::from_ref(&store));
        let reserved = reserved.and_input(&Source::named(&input)).unwrap();
        let pending = PendingCsv::create(Target::at(&out, &reserved).unwrap(), ["a", "b", "c"]).unwrap();
        let before = fs::read(moved).unwrap();
        fs::rename(moved, &out).unwrap();
        let refused = pending.publish().unwrap_err();
        assert!(matches!(refused, Failure::IsTheStores(_) | Failure::OverwritesInput { .. }), "{refused}");
        assert_eq!(fs::read(&out).unwrap(), before);
        fs::remove_file(&out).unwrap();
    }
}
