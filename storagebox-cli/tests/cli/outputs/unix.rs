//! Outputs on a Unix file system: modes, links, devices, pipes, and processes that are killed.

use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::process::Stdio;
use std::thread;

use super::*;

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().mode() & 0o777
}

/// Other users must not read the codes, which are worth money.
#[test]
fn each_output_is_readable_only_by_its_owner() {
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
fn a_manual_page_is_readable_by_everybody() {
    let place = Place::new();
    place.run(&["man", "--dir", "."]).exits(0);
    assert_ne!(mode(&place, "storagebox-bank-load.1") & 0o044, 0);
    assert!(place.read("storagebox-bank-load.1").contains(".TH storagebox-bank-load 1"));
}

#[test]
fn a_link_counts_as_an_existing_file() {
    let place = place();
    place.write("there.csv", "old");
    symlink("there.csv", place.path("link.csv")).unwrap();
    symlink("missing.csv", place.path("broken.csv")).unwrap();
    for link in ["link.csv", "broken.csv"] {
        all_refuse(&place, link, "exists");
        place.run(&[GETS[0], &["--out", link, "--force"]].concat()).exits(0);
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_file(), "the link is replaced");
        assert_eq!(place.read(link), "paid");
    }
    assert_eq!(place.read("there.csv"), "old");
    assert!(!place.path("missing.csv").exists());
}

#[test]
fn output_to_dev_null_leaves_no_file() {
    let place = place();
    let before = place.names();
    for command in commands("/dev/null") {
        place.run(&command);
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let others = |name: &String| !["given.csv", "storagebox.rejects.csv"].contains(&name.as_str());
    assert_eq!(place.names().into_iter().filter(others).collect::<Vec<_>>(), before);
}

#[test]
fn dev_stdout_is_standard_output() {
    let place = place();
    for out in ["-", "/dev/stdout"] {
        assert_eq!(place.run(&["dedup", "get", "records", "order", "--out", out]).exits(0).stdout, "paid");
        let args = ["hand-out", "b", "--ids", "ids.csv", "--rejects", "/dev/null", "--out", out];
        let ended = place.run(&args).exits(0);
        assert!(ended.stdout.starts_with("id,item,outcome\nada,A,"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("audit") && ended.stderr.contains("audit"), "{}", ended.stderr);
    }
}

#[test]
fn a_named_pipe_gets_the_output_and_stays_a_pipe() {
    let place = place();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = place.path("pipe");
    let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
    place.run(&["dedup", "get", "records", "order", "--out", "pipe"]).exits(0);
    assert_eq!(reader.join().unwrap(), "paid");
    assert!(fs::metadata(place.path("pipe")).unwrap().file_type().is_fifo());
}

/// A deleted file that is still open has a dangling path in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn a_deleted_open_file_is_refused_as_output() {
    let place = place();
    let gone = fs::File::create(place.path("gone.csv")).unwrap();
    fs::remove_file(place.path("gone.csv")).unwrap();
    for force in [&[][..], &["--force"]] {
        let mut command = place.command(&[GETS[0], &["--out", "/proc/self/fd/0"], force].concat());
        let ended: Ended = command.stdin(gone.try_clone().unwrap()).output().unwrap().into();
        ended.exits(2);
    }
    assert!(!place.names().iter().any(|name| name.starts_with("gone")), "{:?}", place.names());
}

#[test]
fn a_socket_is_refused_as_output() {
    let place = place();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    all_refuse(&place, "socket", "is not a file");
    assert!(fs::metadata(place.path("socket")).unwrap().file_type().is_socket());
}

/// An output has no name until the work is done, so a killed run leaves nothing.
#[test]
fn a_killed_run_leaves_no_file() {
    let place = place();
    let args = ["hand-out", "b", "--ids", "-", "--out", "given.csv", "--verbose"];
    let mut command = place.command(&args);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut killed = command.spawn().unwrap();
    let before = place.names();
    std::io::Write::write_all(killed.stdin.as_mut().unwrap(), b"ada\n\n").unwrap();
    // The first call is logged when the files are begun.
    std::io::Read::read_exact(killed.stderr.as_mut().unwrap(), &mut [0; 5]).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let others = |name: &String| !name.starts_with(STORE);
    assert_eq!(
        place.names().into_iter().filter(others).collect::<Vec<_>>(),
        before.into_iter().filter(others).collect::<Vec<_>>()
    );
}

/// The output is the purpose of the command, so a closed pipe is an error.
#[test]
fn a_closed_output_pipe_is_a_failure() {
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

/// The output is longer than a pipe can hold, so the reader can close the pipe before all of it is written.
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
fn output_redirected_to_the_store_is_refused() {
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
        assert!(!told || ended.stderr.contains("/dev/stdout is the store's own file"), "{}", ended.stderr);
    }
    assert!(fs::read(place.path(STORE)).unwrap() == before);
    is_whole(&place);
}

#[test]
fn the_name_of_a_folder_is_refused_as_output() {
    let place = place();
    for output in ["new/", "new/.", "items.csv/"] {
        all_refuse(&place, output, "is not a file");
    }
    assert!(!place.path("new").exists());
}

/// Returns the command without root's right to read every folder, if the test runs as root.
#[cfg(target_os = "linux")]
fn without_rights(command: std::process::Command) -> std::process::Command {
    if !rustix::process::geteuid().is_root() {
        return command;
    }
    let mut bare = std::process::Command::new("setpriv");
    bare.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]).arg(command.get_program());
    bare.args(command.get_args()).current_dir(command.get_current_dir().unwrap()).env_remove("STORAGEBOX_URL");
    bare
}

/// A folder that others may put files into, and not list.
#[cfg(target_os = "linux")]
#[test]
fn an_output_in_a_folder_that_cannot_be_read_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    fs::create_dir(place.path("drop")).unwrap();
    let allow = |mode| fs::set_permissions(place.path("drop"), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o300);
    let ended = [
        &["hand-out", "b", "--ids", "ids.csv", "--out", "drop/given.csv"][..],
        &["dedup", "get", "records", "order", "--out", "drop/order"],
    ]
    .map(|args| Ended::from(without_rights(place.command(args)).output().unwrap()));
    allow(0o700);
    for ended in ended {
        let ended = ended.exits(0);
        assert!(ended.stderr.contains("its name may not survive a power failure"), "{}", ended.stderr);
    }
    assert_eq!(place.read("drop/given.csv"), "id,item,outcome\nada,A,new\n");
    assert_eq!(place.read("drop/given.rejects.csv"), "file,line,reason\nids.csv,2,empty\n");
    assert_eq!(place.read("drop/order"), "paid");
}

/// The new file belongs to another program. A list of rejected lines must not replace this file.
#[test]
fn a_new_file_with_the_name_of_the_list_is_not_replaced() {
    for was_there in [false, true] {
        let place = place();
        if was_there {
            place.write("given.rejects.csv", "file,line,reason\nolder.csv,1,empty\n");
        }
        let args = ["hand-out", "b", "--ids", "-", "--out", "given.csv", "--verbose"];
        let mut command = place.command(&args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut run = command.spawn().unwrap();
        std::io::Write::write_all(run.stdin.as_mut().unwrap(), b"ada\n\n").unwrap();
        // The first call is logged when the outputs are checked.
        std::io::Read::read_exact(run.stderr.as_mut().unwrap(), &mut [0; 5]).unwrap();
        place.write("given.rejects.csv", "mine");
        let ended: Ended = run.wait_with_output().unwrap().into();
        let ended = ended.exits(2);
        assert!(ended.stderr.contains("given.rejects.csv exists"), "{}", ended.stderr);
        assert_eq!(place.read("given.rejects.csv"), "mine");
    }
}
