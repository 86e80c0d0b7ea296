//! The audit of stores that break their promises, and of stores that lose replies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Parser;
use futures_util::FutureExt;
use storagebox::bank::{Added, End, Extended, HoldState};
use storagebox::layer::{Call, Response};
use storagebox::values::Item;
use storagebox::{Error, ErrorKind, Held, Result, Taken};
use storagebox_testkit::Folder;

use super::*;
use crate::check::{Check, Mismatch};
use crate::cli::{Cli, Command};
use crate::commands::faulty::{Instead, loses_replies, memory, tampers};
use crate::output::Reserved;

const TEN_MINUTES: Duration = Duration::from_secs(600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Answers every take with `New` and the same item.
    SharesAnItem,
    /// Gives another item to each line of an id.
    ForgetsTheClaim,
    /// Answers `New` to an id that already has its item.
    AlwaysSaysNew,
    /// Applies every call, and loses every other reply.
    LosesReplies,
    /// Answers every third take with `Empty`.
    SometimesSaysEmpty,
    /// Reports one item more than it added.
    Boasts,
    /// Takes one more item than it hands out.
    Leaks,
    Denies,
    Ends,
}

fn store(fault: Fault) -> Store {
    let store = memory();
    match fault {
        Fault::None => store,
        Fault::Boasts => tampers!(store, AddItems, |added: &mut Added| added.added += 1),
        Fault::AlwaysSaysNew => tampers!(store, Take, |taken: &mut Taken| if let Taken::Again(held) = taken {
            *taken = Taken::New(held.clone());
        }),
        Fault::LosesReplies => loses_replies(&store),
        _ => takes_badly(&store, fault),
    }
}

/// Returns the store as a backend that repeats every call, because each first reply was lost.
fn repeats(store: &Store) -> Store {
    let adds = tampers!(store, AddItems, |told: &mut Added| {
        *told = Added { added: 0, already_present: told.added + told.already_present };
    });
    tampers!(adds, Take, |taken: &mut Taken| if let Taken::New(held) = taken {
        *taken = Taken::Again(held.clone());
    })
}

/// Returns the store with a layer that causes this fault when an item is taken.
fn takes_badly(store: &Store, fault: Fault) -> Store {
    let (bank, takes) = (store.bank("items").unwrap(), AtomicUsize::new(1));
    store.clone().layer(Instead(move |call: &Call<'_>| -> Result<_> {
        if call.operation() != "take" {
            return Ok(None);
        }
        let number = takes.fetch_add(1, Ordering::Relaxed);
        Ok(match fault {
            Fault::SharesAnItem => Some(Response::Take(new("SAVE-10"))),
            Fault::ForgetsTheClaim => Some(Response::Take(new(&format!("SAVE-{number}")))),
            Fault::Denies => return Err(Error::new(ErrorKind::Denied, "no right to take")),
            Fault::Ends => Some(Response::Take(Taken::Ended(End::Released))),
            Fault::SometimesSaysEmpty if number.is_multiple_of(3) => Some(Response::Take(Taken::Empty)),
            Fault::Leaks => {
                let _ = bank.assign("nobody").now_or_never().unwrap()?;
                None
            }
            _ => None,
        })
    }))
}

fn new(item: &str) -> Taken {
    Taken::New(Held { item: Item::new(item).unwrap(), hold: HoldState::Forever })
}

struct Run {
    directory: Folder,
    alone: bool,
    fault: Fault,
}

impl Run {
    fn with(fault: Fault) -> Self {
        let directory = Folder::new("cli-test").unwrap();
        let run = Self { directory, alone: true, fault };
        fs::create_dir(run.files()).unwrap();
        fs::write(run.path("items"), "SAVE-1\nSAVE-2\nSAVE-3\nSAVE-4\n").unwrap();
        fs::write(run.path("ids"), "ada\nbob\nada\nbob\nada\n").unwrap();
        run
    }

    /// Returns the folder with the inputs and outputs of the run.
    fn files(&self) -> PathBuf {
        self.directory.path().join("files")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files().join(name)
    }

    fn args(&self) -> (HandOut, Global) {
        let of = |name| self.path(name).into_os_string();
        let start = ["storagebox", "--json", "--url=memory:", "hand-out", "items", "--force", "--concurrency=1"]
            .map(Into::into);
        let files = ["--items".into(), of("items"), "--ids".into(), of("ids"), "--out".into(), of("out.csv")];
        let Cli { command, global } = Cli::parse_from(start.into_iter().chain(files));
        let Command::HandOut(args) = command else { panic!("{command:?}") };
        (args, global)
    }

    async fn start(&self) -> Result<Done, Failure> {
        self.start_on(&store(self.fault)).await
    }

    async fn start_on(&self, store: &Store) -> Result<Done, Failure> {
        let plan = Plan::new(&self.args().0, Reserved::default()).await?;
        hand_out(plan, store, &"items".parse()?, self.alone).await
    }

    /// Hands out to these ids on the store, and returns the lines of the output file.
    async fn hands_out(&self, store: &Store, ids: &str) -> Vec<String> {
        fs::write(self.path("ids"), ids).unwrap();
        let done = self.start_on(store).await.unwrap_or_else(|failure| panic!("{failure}"));
        finish(done, &self.args().1, &mut std::io::sink()).unwrap();
        fs::read_to_string(self.path("out.csv")).unwrap().lines().skip(1).map(Into::into).collect()
    }

    async fn mismatches(&self) -> Vec<(Check, i128)> {
        self.mismatches_on(&store(self.fault)).await
    }

    async fn mismatches_on(&self, store: &Store) -> Vec<(Check, i128)> {
        let done = self.start_on(store).await.unwrap_or_else(|failure| panic!("{failure}"));
        let found = |mismatch: Mismatch| (mismatch.check, mismatch.found);
        done.audit.mismatches().into_iter().map(found).collect()
    }

    async fn finish(&self) -> Result<Exit, Failure> {
        finish(self.start().await?, &self.args().1, &mut std::io::sink())
    }
}

#[tokio::test]
async fn hand_out_on_a_sound_store_passes_its_audit() {
    let run = Run::with(Fault::None);
    assert_eq!(run.mismatches().await, []);
    assert_eq!(run.finish().await.unwrap(), Exit::Done);
}

#[tokio::test]
async fn audit_finds_an_item_of_two_ids() {
    let found = Run::with(Fault::SharesAnItem).mismatches().await;
    assert!(found.contains(&(Check::NO_SHARED_ITEM, 1)), "{found:?}");
}

#[tokio::test]
async fn audit_finds_two_items_of_one_id() {
    let found = Run::with(Fault::ForgetsTheClaim).mismatches().await;
    assert!(found.contains(&(Check::SAME_ITEM_EACH_LINE, 3)), "{found:?}");
}

#[tokio::test]
async fn audit_finds_an_id_that_got_the_outcome_new_twice() {
    let found = Run::with(Fault::AlwaysSaysNew).mismatches().await;
    assert!(found.contains(&(Check::TAKEN_ONCE, 3)), "{found:?}");
}

#[tokio::test]
async fn audit_finds_a_bank_that_reports_more_items_than_it_added() {
    assert_eq!(Run::with(Fault::Boasts).mismatches().await, [(Check::BANK_GREW_BY_ADDED, 4)]);
}

#[tokio::test]
async fn audit_finds_items_that_were_taken_but_not_handed_out() {
    assert_eq!(Run::with(Fault::Leaks).mismatches().await, [(Check::TAKEN_GREW_BY_NEW, 3)]);
}

#[tokio::test]
async fn audit_finds_a_wrong_empty_answer_if_no_other_program_runs() {
    let mut run = Run::with(Fault::SometimesSaysEmpty);
    assert_eq!(run.mismatches().await, [(Check::EMPTY_STAYS_EMPTY, 1), (Check::EMPTY_MEANS_EMPTY, 2)]);
    run.alone = false;
    assert_eq!(run.mismatches().await, []);
}

#[tokio::test]
async fn counts_are_checked_only_if_no_other_program_runs() {
    let mut run = Run::with(Fault::Leaks);
    run.alone = false;
    assert_eq!(run.mismatches().await, []);
}

#[tokio::test]
async fn lost_replies_do_not_fail_the_audit() {
    let run = Run::with(Fault::LosesReplies);
    let done = run.start().await.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(done.audit.mismatches(), []);
    assert_eq!(done.audit.loaded, Loaded { added: 0, already_there: 4 });
    assert_eq!((done.audit.summary.new, done.audit.summary.perhaps_new), (0, 2));
    assert_eq!(done.audit.summary.given, 2);
}

#[tokio::test]
async fn calls_that_the_backend_repeats_do_not_fail_the_audit() {
    let run = Run::with(Fault::None);
    assert_eq!(run.mismatches_on(&repeats(&memory())).await, []);
    assert_eq!(run.mismatches_on(&repeats(&store(Fault::Leaks))).await, [(Check::TAKEN_GREW_BY_NEW, 3)]);
}

#[tokio::test]
async fn a_failed_audit_publishes_nothing_and_names_no_item() {
    let run = Run::with(Fault::ForgetsTheClaim);
    fs::write(run.path("out.csv"), "old").unwrap();
    let failure = run.finish().await.unwrap_err();
    assert_eq!(failure.exit(), Exit::StoreFailed);
    let message = failure.to_string();
    assert!(message.contains("lines with another item than the id had: expected 0, found 3"), "{message}");
    assert!(!message.contains("SAVE"), "{message}");
    assert_eq!(fs::read_to_string(run.path("out.csv")).unwrap(), "old");
    assert_eq!(names(&run.files()), ["ids", "items", "out.csv"]);
}

#[tokio::test]
async fn a_store_that_fails_leaves_no_file() {
    let run = Run::with(Fault::Denies);
    let failure = run.finish().await.unwrap_err();
    assert_eq!(failure.exit(), Exit::StoreFailed);
    assert_eq!(names(&run.files()), ["ids", "items"]);
}

#[tokio::test]
async fn an_ended_claim_is_reported_as_ended_and_not_as_empty() {
    let run = Run::with(Fault::Ends);
    assert_eq!(run.finish().await.unwrap(), Exit::Nothing);
    let out = fs::read_to_string(run.path("out.csv")).unwrap();
    assert!(out.starts_with("id,item,outcome\nada,,ended\nbob,,ended\n"), "{out}");
}

/// Returns a store in whose bank `ada` holds an item for ten minutes.
async fn with_a_timed_hold() -> Store {
    let store = memory();
    let bank = store.bank("items").unwrap();
    bank.add(["SAVE-1"]).await.unwrap();
    let _ = bank.take("ada").for_at_most(TEN_MINUTES).await.unwrap();
    store
}

#[tokio::test(start_paused = true)]
async fn an_item_that_was_held_for_a_while_is_given_for_ever() {
    let (store, run) = (with_a_timed_hold().await, Run::with(Fault::None));
    assert_eq!(run.hands_out(&store, "ada\n").await, ["ada,SAVE-1,again"]);
    tokio::time::advance(TEN_MINUTES).await;
    let later = run.hands_out(&store, "bob\neve\ndan\ntom\nada\n").await;
    assert_eq!(later[3..], ["tom,,empty", "ada,SAVE-1,again"]);
    assert!(later[..3].iter().all(|line| line.ends_with(",new") && !line.contains("SAVE-1")), "{later:?}");
}

/// A confirmed claim has its item for ever already.
#[tokio::test(start_paused = true)]
async fn a_spent_item_is_given_again() {
    let (store, run) = (with_a_timed_hold().await, Run::with(Fault::None));
    let _ = store.bank("items").unwrap().confirm("ada").await.unwrap();
    assert_eq!(run.hands_out(&store, "ada\n").await, ["ada,SAVE-1,again"]);
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_ends_during_the_hand_out_is_reported_as_ended() {
    let store =
        tampers!(with_a_timed_hold().await, ExtendClaim, |told: &mut Extended| *told = Extended::Ended(End::Expired));
    assert_eq!(Run::with(Fault::None).hands_out(&store, "ada\n").await, ["ada,,ended"]);
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
