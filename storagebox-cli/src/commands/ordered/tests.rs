//! Each command on a store: answers and exit codes.

use std::time::SystemTime;

use clap::Parser;
use serde_json::{Value, json};

use super::*;
use crate::cli::{Cli, Command};
use crate::commands::asked::{ask, text};
use crate::commands::faulty::memory;

fn command(args: &[&str]) -> Ordered {
    command_in("values", args)
}

fn command_in(namespace: &str, args: &[&str]) -> Ordered {
    match Cli::parse_from([&["storagebox", "ordered", args[0], namespace], &args[1..]].concat()).command {
        Command::Ordered(command) => command,
        other => panic!("{other:?}"),
    }
}

async fn lines(store: &Store, args: &[&str], as_json: bool) -> (Exit, String) {
    text(command(args), store, as_json).await
}

async fn answer(store: &Store, args: &[&str]) -> (Exit, Value) {
    let (exit, text) = lines(store, &[args, &["--stamps", "sequence"]].concat(), true).await;
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    answer.as_object_mut().unwrap().remove("namespace").unwrap();
    (exit, answer)
}

fn told(outcome: &str, at: i64, writer: &str) -> Value {
    json!({ "key": "movie", "outcome": outcome, "at": at, "writer": writer })
}

#[tokio::test]
async fn an_older_write_never_wins() {
    let store = memory();
    let put = async |value: &str, at: &str, writer: &str| {
        answer(&store, &["put", "movie", value, "--at", at, "--writer", writer]).await
    };
    assert_eq!(put("5", "20", "phone").await, (Exit::Done, told("applied", 20, "phone")));
    assert_eq!(put("5", "20", "phone").await, (Exit::Done, told("duplicate", 20, "phone")));
    assert_eq!(put("3", "10", "laptop").await, (Exit::Nothing, told("stale", 20, "phone")));
    let mismatch = json!({ "key": "movie", "outcome": "mismatch" });
    assert_eq!(put("4", "20", "phone").await, (Exit::Nothing, mismatch));
    let (exit, got) = answer(&store, &["get", "movie"]).await;
    assert_eq!((exit, &got["value"], &got["at"]), (Exit::Done, &json!("5"), &json!(20)));
}

#[tokio::test]
async fn a_delete_is_remembered_until_it_is_purged() {
    let store = memory();
    let delete = ["delete", "movie", "--at", "30", "--writer", "phone"];
    assert_eq!(answer(&store, &delete).await, (Exit::Done, told("applied", 30, "phone")));
    let absent = json!({ "key": "movie", "outcome": "absent" });
    assert_eq!(answer(&store, &["get", "movie"]).await, (Exit::Nothing, absent));
    let late = ["put", "movie", "3", "--at", "10", "--writer", "laptop"];
    assert_eq!(answer(&store, &late).await.1["outcome"], "stale");
    assert_eq!(answer(&store, &["purge"]).await.1["purged"], 0);
    assert_eq!(answer(&store, &["purge", "--older-than", "0s"]).await.1["purged"], 1);
    assert_eq!(answer(&store, &late).await.1["outcome"], "applied");
}

#[tokio::test]
async fn a_time_too_far_ahead_is_refused_unless_skew_is_unlimited() {
    let store = memory();
    let ahead = ["put", "movie", "5", "--at", "2999-01-01T00:00:00Z", "--writer", "phone"];
    for skew in [&[][..], &["--max-skew", "1h"]] {
        let guarded = command(&[&ahead[..], skew].concat());
        let failure = ask(guarded, &store, true, &mut vec![]).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::BadInput, "{failure}");
    }
    for skew in ["none", "36500d", "365000d"] {
        let free = command(&[&ahead[..], &["--max-skew", skew]].concat());
        assert_eq!(ask(free, &store, true, &mut vec![]).await.is_ok(), skew == "none", "{skew}");
    }
}

/// Another program has written a stamp in microseconds, which makes every correct write stale.
#[tokio::test]
async fn reset_frees_a_key_only_with_its_exact_stamp() {
    let store = memory();
    let millis = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let (now, far) = (&*millis.to_string(), &*(millis * 1_000).to_string());
    let by = |at| ["movie", "--at", at, "--writer", "phone"];
    let put = |at| [&["put", "movie", "5"], &by(at)[1..]].concat();
    let reset = |at| [&["reset"][..], &by(at)].concat();
    let told = async |args: &[&str]| {
        let (exit, text) = lines(&store, args, true).await;
        (exit, serde_json::from_str::<Value>(&text).unwrap())
    };
    let unlimited = command(&["purge", "--max-skew", "none"]).of().options().unwrap();
    let program = store.ordered_with("values", unlimited).unwrap();
    let _ = program.put("movie", "5").at(far.parse().unwrap()).by("phone").await.unwrap();
    let failure = ask(command(&put(far)), &store, true, &mut vec![]).await.unwrap_err().to_string();
    assert!(failure.contains("12 or 13 digits"), "{failure}");
    let (_, stale) = told(&put(now)).await;
    assert_eq!(stale["at"].to_string(), far, "{stale}");
    let (exit, other) = told(&reset(now)).await;
    assert_eq!((exit, &other["outcome"], other["at"].to_string()), (Exit::Nothing, &json!("stale"), far.to_owned()));
    let (exit, done) = told(&reset(far)).await;
    assert_eq!((exit, &done["outcome"]), (Exit::Done, &json!("reset")));
    assert_eq!(told(&reset(far)).await.1["outcome"], "absent");
    assert_eq!(told(&put(now)).await.1["outcome"], "applied");
}

/// The row has a time that is older than the default tombstone age.
#[tokio::test]
async fn old_rows_are_loaded_with_a_longer_tombstone_age() {
    let store = memory();
    let put = ["put", "User#1/Movie#A", "3", "--at", "1721769060000", "--writer", "import"];
    let (exit, refused) = lines(&store, &put, true).await;
    let refused: Value = serde_json::from_str(&refused).unwrap();
    assert_eq!((exit, &refused["outcome"]), (Exit::Nothing, &json!("too_old")), "{refused}");
    assert!(refused["horizon"].as_i64().unwrap() > 1_721_769_060_000, "{refused}");
    let history = |args: &[&str]| command_in("history", &[args, &["--tombstone-age", "36500d"]].concat());
    assert_eq!(text(history(&put), &store, true).await.0, Exit::Done);
    let (_, got) = text(history(&["get", "User#1/Movie#A"]), &store, true).await;
    assert_eq!(serde_json::from_str::<Value>(&got).unwrap()["at"], 1_721_769_060_000_i64);
}

#[tokio::test]
async fn conflicting_options_are_refused() {
    let store = memory();
    for args in [&["purge", "--stamps", "sequence", "--max-skew", "1h"][..], &["purge", "--tombstone-age", "0s"]] {
        let failure = ask(command(args), &store, true, &mut vec![]).await.unwrap_err();
        assert_eq!(failure.exit(), Exit::BadInput, "{args:?}: {failure}");
    }
}

#[tokio::test]
async fn values_are_listed_by_prefix() {
    let store = memory();
    for key in ["movie/a", "movie/b", "song/a"] {
        answer(&store, &["put", key, "5", "--at", "1", "--writer", "phone"]).await;
    }
    let list = ["list", "--stamps", "sequence", "--prefix", "movie/"];
    let (_, csv) = lines(&store, &list, false).await;
    let (header, rows) = csv.split_once('\n').unwrap();
    let mut rows: Vec<_> = rows.lines().collect();
    rows.sort_unstable();
    assert_eq!((header, &rows[..]), ("key,at,writer,value", &["movie/a,1,phone,5", "movie/b,1,phone,5"][..]));
    for (prefix, found) in [("", 3), ("movie/a", 1), ("m\0", 0), (&*"m".repeat(513), 0), (&*"m".repeat(512), 0)] {
        let (exit, csv) = lines(&store, &["list", "--stamps", "sequence", "--prefix", prefix], false).await;
        assert_eq!((exit, csv.lines().count() - 1), (Exit::Done, found), "{prefix:?}");
    }
    let (_, json) = lines(&store, &[&list[..], &["--limit", "1"]].concat(), true).await;
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["value"], "5");
}
