//! What each caller of a run gets.

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use serde_json::{Value, json};
use storagebox::dedup::{Begun, LeaseExtended};
use storagebox::layer::{Call, Response};
use storagebox::{ErrorKind, Result, Retention};
use storagebox_testkit::Folder;

use super::*;
use crate::cli::{Cli, Command, Dedup};
use crate::commands::faulty::{Instead, memory};

fn args(options: &[&str], command: &[&str]) -> Run {
    let args = [&["storagebox", "dedup", "run", "records", "nightly"], options, &["--"], command].concat();
    match Cli::parse_from(args).command {
        Command::Dedup(Dedup::Run(args)) => args,
        other => panic!("{other:?}"),
    }
}

struct Ran {
    exit: Exit,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Runs the command, and returns the exit code and the JSON or the replayed output.
async fn ran(store: &Store, args: &Run, as_json: bool) -> Result<Ran, RunFailure> {
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let to = Outputs { stdout: &mut stdout, stderr: &mut stderr, as_json };
    let exit = run(args, store, &mut Signals::listen(&[]).unwrap(), to).await?;
    Ok(Ran { exit, stdout, stderr })
}

async fn json_of(store: &Store, args: &Run) -> Value {
    serde_json::from_slice(&ran(store, args, true).await.unwrap().stdout).unwrap()
}

const TALKS: [&str; 3] = ["sh", "-c", r"printf 'out\377\n'; printf 'err\0' >&2; echo x >> $0; exit 7"];

#[tokio::test]
async fn later_callers_get_the_output_of_the_first_run() {
    let (store, folder) = (memory(), Folder::new("cli-test").unwrap());
    let file = folder.path().join("runs");
    let run = args(&[], &[&TALKS[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(json_of(&store, &run).await["outcome"], "ran");
    for _ in 0..2 {
        let later = ran(&store, &run, false).await.unwrap();
        assert_eq!(later.exit, Exit::Of(7));
        assert_eq!((&later.stdout[..], &later.stderr[..]), (&b"out\xFF\n"[..], &b"err\0"[..]));
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
    let told = json!({
        "namespace": "records", "id": "nightly", "outcome": "replayed", "exit_code": 7, "stdout_base64": "b3V0/wo=",
        "stderr": "err\0",
    });
    assert_eq!(json_of(&store, &run).await, told);
}

#[tokio::test]
async fn a_failed_command_is_run_again_with_retry_failures() {
    let store = memory();
    let run = args(&["--retry-failures"], &["sh", "-c", "exit 7"]);
    for _ in 0..2 {
        let told = json_of(&store, &run).await;
        assert_eq!([&told["outcome"], &told["exit_code"]], [&json!("not_recorded"), &json!(7)]);
    }
    let run = args(&["--fingerprint", "nightly"], &["sh", "-c", "exit 7"]);
    assert_eq!(json_of(&store, &run).await["outcome"], "ran");
    assert_eq!(json_of(&store, &run).await["outcome"], "replayed");
}

#[tokio::test]
async fn another_command_for_the_same_id_is_refused() {
    let store = memory();
    json_of(&store, &args(&[], &["echo", "a b"])).await;
    for other in [&["echo", "a", "b"][..], &["echo", "a b", ""], &["echo"]] {
        let failure = ran(&store, &args(&[], other), false).await.err().unwrap();
        assert!(matches!(failure, RunFailure::OtherCommand), "{other:?}: {failure}");
        assert_eq!(failure.exit(), Exit::RunFailed);
    }
}

#[tokio::test]
async fn a_recorded_plain_value_is_not_replayed() {
    let store = memory();
    let records = store.dedup("records").unwrap();
    let _ = records.record("nightly", "paid").keep(Retention::Forever).by("ada").await.unwrap();
    let failure = ran(&store, &args(&[], &["true"]), false).await.err().unwrap();
    assert!(matches!(failure, RunFailure::NoRun), "{failure}");
}

#[tokio::test]
async fn too_long_output_is_counted_and_not_replayed() {
    let store = memory();
    let run = args(&[], &["sh", "-c", "head -c 300000 /dev/zero; exit 3"]);
    let first = json_of(&store, &run).await;
    assert_eq!([&first["exit_code"], &first["output_bytes"]], [3, 300_000]);
    let failure = ran(&store, &run, false).await.err().unwrap();
    assert!(failure.to_string().contains("ended with 3, and wrote 300000 bytes"), "{failure}");
    assert_eq!(failure.exit(), Exit::RunFailed);
}

/// The command ends, and a process that it left writes more than a record holds and closes the output.
#[tokio::test]
async fn too_long_output_after_the_end_of_the_command_is_counted_and_not_replayed() {
    let store = memory();
    let after_the_end = "(while kill -0 $$ 2>/dev/null; do :; done; head -c 600000 /dev/zero) & exit 0";
    let run = args(&[], &["sh", "-c", after_the_end]);
    assert_eq!(json_of(&store, &run).await["output_bytes"], 600_000);
    let failure = ran(&store, &run, false).await.err().unwrap();
    assert!(matches!(failure, RunFailure::OutputNotKept { bytes: 600_000, .. }), "{failure}");
}

#[tokio::test]
async fn a_command_that_cannot_be_run_leaves_the_id_free() {
    let store = memory();
    for (command, exit) in [("/dev/null", Exit::CannotRun), ("no-such-command", Exit::NoSuchCommand)] {
        let failure = ran(&store, &args(&[], &[command]), false).await.err().unwrap();
        assert_eq!(failure.exit(), exit, "{failure}");
    }
    assert_eq!(json_of(&store, &args(&[], &["true"])).await["outcome"], "ran");
}

#[tokio::test(start_paused = true)]
async fn a_caller_exits_after_its_wait_if_the_command_still_runs() {
    let store = memory();
    let _ = store.dedup("records").unwrap().begin("nightly").by("other").await.unwrap();
    for wait in ["0s", "10s"] {
        let failure = ran(&store, &args(&["--wait", wait], &["true"]), false).await.err().unwrap();
        assert!(matches!(failure, RunFailure::InFlight { .. }), "{failure}");
        assert_eq!(failure.exit(), Exit::StillRunning);
    }
}

#[tokio::test(start_paused = true)]
async fn callers_wait_until_the_lease_of_a_dead_runner_expires() {
    let store = memory();
    let Begun::Started(dead) = store.dedup("records").unwrap().begin("nightly").by("dead").await.unwrap() else {
        panic!("nobody else is here")
    };
    let run = args(&[], &["sh", "-c", "echo $STORAGEBOX_FENCE $STORAGEBOX_ID"]);
    let told = json_of(&store, &run).await;
    let said = told["stdout"].as_str().unwrap().trim_end();
    let (fence, id) = said.split_once(' ').unwrap();
    assert!(fence.parse::<u64>().unwrap() > dead.fence.number(), "{said}");
    assert_eq!(id, "nightly");
}

/// Returns a store that ends every lease early if `takes_away` is true, and fails the first `refusals` attempts to
/// record a result.
fn bad(takes_away: bool, refusals: usize) -> Store {
    let refusals = AtomicUsize::new(refusals);
    memory().layer(Instead(move |call: &Call<'_>| -> Result<Option<Response>> {
        let refuses =
            || refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        match call.operation() {
            "complete" if refuses() => Err(Error::new(ErrorKind::Unavailable, "as the test asked")),
            "extend" if takes_away => Ok(Some(Response::ExtendLease(LeaseExtended::Fenced))),
            _ => Ok(None),
        }
    }))
}

#[tokio::test]
async fn a_command_whose_lease_was_lost_is_ended() {
    let bad = bad(true, 0);
    let run = args(&["--lease", "30ms"], &["sleep", "1000000"]);
    let failure = ran(&bad, &run, false).await.err().unwrap();
    assert!(matches!(failure, RunFailure::LeaseLost), "{failure}");
}

#[tokio::test]
async fn a_result_is_recorded_despite_failed_attempts() {
    let bad = bad(false, 8);
    assert_eq!(json_of(&bad, &args(&[], &["true"])).await["outcome"], "ran");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_recorded_names_its_exit_code() {
    let bad = bad(false, usize::MAX);
    let failure = ran(&bad, &args(&[], &["sh", "-c", "exit 4"]), true).await.err().unwrap();
    let told = "the command ran and ended with 4, but cannot record the result on memory: as the test asked";
    assert_eq!(failure.to_string(), told);
    assert_eq!(failure.exit(), Exit::RunFailed);
}
