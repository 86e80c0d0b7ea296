//! Processes that a command started. They are ended if the run has no result, and keep running if it has one.

use super::*;

/// A command that starts processes in its group, in other sessions, and as orphans. All of these processes ignore
/// requests to end.
pub(super) const FAMILY: &str = "
    trap '' TERM INT HUP QUIT
    member() { echo $BASHPID >> pids; while test -e alive; do sleep 0.01; done; }
    export -f member
    member &
    (member &)
    setsid bash -c member &
    (setsid bash -c member &)
    echo $$ >> pids
    while test $(wc -l < pids) != 5; do sleep 0.01; done
    echo started
    wait
";

#[test]
fn a_second_signal_kills_every_process_of_the_command() {
    let session = Session::new();
    let mut run = session.started(&[], FAMILY);
    // Two signals at once are one request.
    while run.runner.try_wait().unwrap().is_none() {
        run.signal(Signal::INT);
        thread::yield_now();
    }
    run.ended().exits(123);
    session.all_have_ended(5);
}

/// No process of a run may keep running after another runner has begun.
#[test]
fn a_lost_lease_ends_every_process_of_the_command() {
    let session = Session::new();
    let options = ["--lease", "1s", "--fingerprint", "nightly"];
    let run = session.started(&options, FAMILY);
    // A runner that is stopped during a call would lock the file.
    while session.is_in_the_way(&run, &options) {}
    let ended = run.ended().exits(125);
    assert!(ended.stderr.starts_with("error: the lease ran out while the command was running"), "{}", ended.stderr);
    session.all_have_ended(5);
}

/// The guard of the runner kills the group of the command, but not processes that left the group.
#[test]
fn killing_a_runner_kills_the_group_of_its_command() {
    let session = Session::new();
    let run = session.started(&[], &FAMILY.replace("setsid bash -c member", "member"));
    kill_process_group(run.pid(), Signal::KILL).unwrap();
    let Running { mut runner, .. } = run;
    runner.wait().unwrap();
    let ids = session.place.read("pids");
    while ids.lines().any(is_alive) {
        thread::yield_now();
    }
    session.all_have_ended(5);
}

/// A shell starts a process in the background, and then becomes the runner by `exec`.
#[test]
fn a_process_outside_the_command_keeps_running() {
    let session = Session::new();
    let run = session.command(&["--retry-failures"], "false");
    let mut shell = Command::new("bash");
    let script = format!("({WAITS}) >&- 2>&- & echo $! > pid; exec \"$@\"");
    shell.args(["-c", &script, "bash"]).args(run.get_args()).current_dir(run.get_current_dir().unwrap());
    let failed: Ended = shell.env_remove("STORAGEBOX_URL").output().unwrap().into();
    failed.exits(1);
    assert!(is_alive(session.place.read("pid").trim()));
}

/// All processes must end before the lease is returned, because the next run may begin then.
#[test]
fn a_failure_that_is_not_recorded_leaves_no_process_behind() {
    let session = Session::new();
    let script = FAMILY.replace("trap '' TERM INT HUP QUIT", "").replace("wait", "exit 4");
    let run = session.started(&["--retry-failures"], &script);
    run.ended().exits(4);
    session.all_have_ended(5);
}

/// A process that the command started holds the output open after the command has ended. Later output is not recorded.
#[test]
fn a_process_left_by_a_recorded_command_keeps_running() {
    let session = Session::new();
    let floods = "(trap '' PIPE; echo $BASHPID > pid; while test -e alive; do echo x 2>> lost || sleep 0.01; done) &";
    let script = format!("{floods} while ! test -s pid; do sleep 0.01; done; echo hi; echo hi >&2; exit 5");
    let first: Ended = session.command(&[], &script).output().unwrap().into();
    let first = first.exits(5);
    assert_eq!((first.stdout.matches("hi\n").count(), first.stderr.as_str()), (1, "hi\n"));
    let id = session.place.read("pid");
    assert!(is_alive(id.trim()));
    let later: Ended = session.command(&[], &script).output().unwrap().into();
    let later = later.exits(5);
    assert!((&later.stdout, &later.stderr) == (&first.stdout, &first.stderr), "the output differs");
}
