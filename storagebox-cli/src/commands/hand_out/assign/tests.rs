use std::io::{PipeReader, Write, pipe};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox::layer::Call;
use tokio::task::yield_now;

use super::*;
use crate::commands::faulty::{Instead, memory};
use crate::input::Source;
use crate::output::{Reserved, Target};

/// Returns the list as a pipe, whose beginning is checked after the work has begun.
fn piped(list: &[u8]) -> (PipeReader, Source) {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(list).unwrap();
    let path = format!("/dev/fd/{}", reader.as_raw_fd());
    (reader, Source::File(path.into()))
}

/// Hands out to a list that is refused. Returns the refusal, and the number of takes.
async fn refused(list: &[u8]) -> (Failure, usize) {
    let (_open, source) = piped(list);
    let (null, reserved) = (Path::new("/dev/null"), Reserved::default());
    let mut out = PendingCsv::create(Target::at(null, true, &reserved).unwrap(), ["id", "item", "outcome"]).unwrap();
    let mut rejects = Rejects::at(Some(null), &source, &reserved).unwrap();
    let takes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&takes);
    let store = memory().layer(Instead(move |_: &Call<'_>| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    }));
    let (lines, bank) = (Lines::open(&source, false).await.unwrap(), store.bank("items").unwrap());
    let failure = assign(lines, &bank, 64, &mut Ledger::default(), &mut out, &mut rejects).await.unwrap_err();
    // Tasks that were spawned run when the test yields.
    for _ in 0..1_000 {
        yield_now().await;
    }
    (failure, takes.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_refused_pipe_is_not_read_by_a_caller_that_asks_again() {
    let (_open, source) = piped(b"<html>\nSign in\n");
    let mut lines = Lines::open(&source, false).await.unwrap();
    for _ in 0..3 {
        lines.next_line::<ClaimId>().await.unwrap_err();
    }
}

#[tokio::test]
async fn no_line_of_a_refused_pipe_is_used_as_an_id() {
    for (list, why) in [
        (&b"<!doctype html>\n<p>\nSign in\n</p>\n"[..], "it is a document"),
        (b"[\n  \"ada\",\n  \"bob\"\n]\n", "it is JSON"),
        (b"email\nada@example.com\nbob@example.com\n", "it looks like a header"),
        (b"sep=;\nada;Ada\nbob\n", "its columns are separated"),
    ] {
        let (failure, takes) = refused(list).await;
        assert!(failure.to_string().contains(why), "{failure}");
        assert_eq!(takes, 0, "{why}");
    }
}
