//! What a file system of Unix's has besides: rights, links, devices, pipes; and who was killed.

use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::process::Stdio;
use std::thread;

use super::*;

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().mode() & 0o777
}

/// Codes are money.
#[test]
fn whatever_is_made_is_for_its_owner_alone() {
    let place = place();
    for command in commands("new") {
        if place.path("new").exists() {
            fs::remove_file(place.path("new")).unwrap();
        }
        place.run(&command);
        assert_eq!(mode(&place, "new"), 0o600, "{command:?}");
    }
    for made in [STORE, "given.csv"] {
        assert_eq!(mode(&place, made), 0o600, "{made}");
    }
}

#[test]
fn what_holds_no_secret_is_for_everybody() {
    let place = Place::new();
    place.run(&["man", "--dir", "."]).exits(0);
    assert_ne!(mode(&place, "storagebox-bank-load.1") & 0o044, 0);
    assert!(place.read("storagebox-bank-load.1").contains(".TH storagebox-bank-load 1"));
}

/// As `>` does.
#[test]
fn a_link_is_written_through_wherever_it_leads() {
    let place = place();
    place.write("there.csv", "old");
    symlink("there.csv", place.path("link.csv")).unwrap();
    symlink("missing.csv", place.path("broken.csv")).unwrap();
    for (link, real) in [("link.csv", "there.csv"), ("broken.csv", "missing.csv")] {
        place.run(&["dedup", "get", "records", "order", "--out", link]).exits(0);
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink());
        assert_eq!(place.read(real), "paid");
    }
}

#[test]
fn what_is_thrown_away_leaves_no_file() {
    let place = place();
    let before = place.names();
    for command in commands("/dev/null") {
        place.run(&command);
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let others = |name: &String| !["given.csv", "storagebox.rejects.csv"].contains(&name.as_str());
    assert_eq!(place.names().into_iter().filter(others).collect::<Vec<_>>(), before);
}

/// By a link, so that a fault would harm no more than this folder.
#[test]
fn standard_output_is_itself_by_another_name() {
    let place = place();
    symlink("/dev/stdout", place.path("stdout")).unwrap();
    for out in ["-", "stdout"] {
        assert_eq!(place.run(&["dedup", "get", "records", "order", "--out", out]).exits(0).stdout, "paid");
        let args = ["hand-out", "b", "--ids", "ids.csv", "--rejects", "/dev/null", "--out", out];
        let ended = place.run(&args).exits(0);
        assert!(ended.stdout.starts_with("id,item,outcome\nada,A,"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("audit") && ended.stderr.contains("audit"), "{}", ended.stderr);
    }
    assert!(fs::symlink_metadata(place.path("stdout")).unwrap().is_symlink());
}

#[test]
fn a_pipe_gets_its_bytes_and_stays() {
    let place = place();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = place.path("pipe");
    let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
    place.run(&["dedup", "get", "records", "order", "--out", "pipe"]).exits(0);
    assert_eq!(reader.join().unwrap(), "paid");
    assert!(fs::metadata(place.path("pipe")).unwrap().file_type().is_fifo());
}

/// What is removed and still open has a path in `/proc` that leads nowhere.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_gone_is_no_place_to_write() {
    let place = place();
    let gone = fs::File::create(place.path("gone.csv")).unwrap();
    fs::remove_file(place.path("gone.csv")).unwrap();
    let mut command = place.command(&["dedup", "get", "records", "order", "--out", "/proc/self/fd/0"]);
    let ended: Ended = command.stdin(gone).output().unwrap().into();
    assert!(ended.exits(2).stderr.contains("is not a file"));
    assert!(!place.names().iter().any(|name| name.starts_with("gone")), "{:?}", place.names());
}

#[test]
fn a_socket_is_no_place_to_write() {
    let place = place();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    all_refuse(&place, "socket", "is not a file");
    assert!(fs::metadata(place.path("socket")).unwrap().file_type().is_socket());
}

fn temporary(place: &Place) -> Vec<String> {
    place.names().into_iter().filter(|name| name.ends_with(".tmp")).collect()
}

/// One that is alive keeps what it has begun; one that was killed does not.
#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next() {
    let place = Place::with("A\n", "ada\n");
    let args = ["hand-out", "items", "--items", "items.csv", "--ids", "-", "--out", "given.csv"];
    let mut command = place.command(&args);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut killed = command.spawn().unwrap();
    std::io::Write::write_all(killed.stdin.as_mut().unwrap(), b"ada\n").unwrap();
    // The note comes once the files are begun.
    std::io::Read::read_exact(killed.stderr.as_mut().unwrap(), &mut [0; 5]).unwrap();
    assert_eq!(temporary(&place).len(), 1);
    place.hand_out(&[]).exits(0);
    assert_eq!(temporary(&place).len(), 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(temporary(&place).len(), 1);
    place.hand_out(&[]).exits(0);
    assert_eq!(temporary(&place), [""; 0]);
}

/// Whatever the mask says.
#[test]
fn a_file_that_is_replaced_keeps_its_rights_and_its_group() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let place = place();
    let is_root = rustix::process::geteuid().is_root();
    for rights in [0o666, 0o664, 0o640, 0o400] {
        place.write("given.csv", "old");
        fs::set_permissions(place.path("given.csv"), fs::Permissions::from_mode(rights)).unwrap();
        // Another group, which only root may always give a file to.
        let group = if is_root { 4_242 } else { fs::metadata(place.path("given.csv")).unwrap().gid() };
        chown(place.path("given.csv"), None, Some(group)).unwrap();
        place.run(&["dedup", "get", "records", "order", "--out", "given.csv"]).exits(0);
        assert_eq!(place.read("given.csv"), "paid");
        assert_eq!(mode(&place, "given.csv"), rights, "{rights:o}");
        assert_eq!(fs::metadata(place.path("given.csv")).unwrap().gid(), group);
        fs::remove_file(place.path("given.csv")).unwrap();
    }
}

/// Renamed to the name of the output while the run reads on.
#[test]
fn an_input_or_the_store_that_is_renamed_to_the_output_stays() {
    for moved in ["items.csv", STORE] {
        let place = place();
        let before = fs::read(place.path(moved)).unwrap();
        let args = ["hand-out", "b", "--items", "items.csv", "--ids", "-", "--out", "given.csv"];
        let mut command = place.command(&args);
        let mut run = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(run.stdin.as_mut().unwrap(), b"ada\n").unwrap();
        while temporary(&place).is_empty() {
            assert!(run.try_wait().unwrap().is_none());
            thread::yield_now();
        }
        fs::rename(place.path(moved), place.path("given.csv")).unwrap();
        drop(run.stdin.take());
        assert_ne!(run.wait().unwrap().code(), Some(0), "{moved}");
        let after = fs::read(place.path("given.csv")).unwrap();
        assert_eq!(after.get(..16), before.get(..16), "{moved}");
    }
}

/// The output is what the command was run for: whoever does not get it is told.
#[test]
fn an_output_that_nobody_reads_is_a_failure() {
    let place = place();
    let hand_out = ["hand-out", "b", "--ids", "ids.csv", "--rejects", "/dev/null", "--out", "-"];
    for args in [
        &["dedup", "get", "records", "order", "--out", "-"][..],
        &hand_out,
        &["ordered", "get", "values", "key", "--stamps", "sequence", "--out", "-"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended: Ended = place.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap().into();
        let ended = ended.exits(2);
        assert!(ended.stderr.contains("cannot write to standard output"), "{}", ended.stderr);
        assert!(ended.stderr.contains("run the same command again"), "{}", ended.stderr);
    }
}

/// More than a pipe holds, so that its reader can go before all of it is written.
#[test]
fn a_pipe_whose_reader_goes_away_is_a_failure() {
    let place = place();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    place.write("long", vec![b'x'; 200_000]);
    place.run(&["dedup", "record", "records", "long", "--file", "long", "--op", "o"]).exits(0);
    let pipe = place.path("pipe");
    let reader = thread::spawn(move || {
        std::io::Read::read_exact(&mut fs::File::open(pipe).unwrap(), &mut [0; 1]).unwrap();
    });
    let ended = place.run(&["dedup", "get", "records", "long", "--out", "pipe"]).exits(2);
    reader.join().unwrap();
    assert!(ended.stderr.contains("cannot write to pipe"), "{}", ended.stderr);
}

#[test]
fn standard_outputs_take_the_place_of_no_store() {
    let place = place();
    let before = fs::read(place.path(STORE)).unwrap();
    for (args, told) in [
        (&["dedup", "get", "records", "order", "--out", "-"][..], true),
        (&["bank", "list", "b"], true),
        (&["dedup", "list", "records"], false),
    ] {
        let store = fs::File::options().write(true).open(place.path(STORE)).unwrap();
        let mut command = place.command(args);
        let command = if told { command.stdout(store) } else { command.stderr(store) };
        let ended: Ended = command.output().unwrap().into();
        let ended = ended.exits(2);
        assert!(!told || ended.stderr.contains("standard output is the store's own file"), "{}", ended.stderr);
    }
    assert!(fs::read(place.path(STORE)).unwrap() == before);
    is_whole(&place);
}

#[test]
fn the_name_of_a_folder_is_no_place_to_write() {
    let place = place();
    for output in ["new/", "new/.", "items.csv/"] {
        all_refuse(&place, output, "is not a file");
    }
    assert!(!place.path("new").exists());
}

/// Nobody asked for that name, and the one who has it now may not know of the run at all.
#[test]
fn a_strangers_file_that_appears_under_the_name_of_the_list_stays() {
    for was_there in [false, true] {
        let place = place();
        if was_there {
            place.write("given.rejects.csv", "file,line,reason\nolder.csv,1,empty\n");
        }
        let args = ["hand-out", "b", "--ids", "-", "--out", "given.csv"];
        let mut command = place.command(&args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut run = command.spawn().unwrap();
        std::io::Write::write_all(run.stdin.as_mut().unwrap(), b"ada\n\n").unwrap();
        // The list, and the output.
        while temporary(&place).len() < 2 {
            assert!(run.try_wait().unwrap().is_none());
            thread::yield_now();
        }
        place.write("given.rejects.csv", "mine");
        let ended: Ended = run.wait_with_output().unwrap().into();
        let ended = ended.exits(2);
        assert!(ended.stderr.contains("given.rejects.csv is there, and is no list"), "{}", ended.stderr);
        assert_eq!(place.read("given.rejects.csv"), "mine");
    }
}
