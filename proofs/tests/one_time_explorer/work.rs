//! The work of a worker on the token.

use std::sync::{Arc, Mutex};

use storagebox_core::{OneTimeTokens, Result, TokenBegun, TokenCommitted};
use storagebox_proofs::gate::lock;

use crate::run::{LEASE, TOKEN};
use crate::scenario::Work;
use crate::told::{Known, Told};

/// Does the work of one worker. Returns the answer as text for people.
pub(crate) async fn worked(
    work: Work,
    tokens: OneTimeTokens,
    told: Arc<Mutex<Told>>,
    known: Arc<Mutex<Option<Known>>>,
) -> Result<String> {
    let known = || lock(&known).clone().expect("its first step is done");
    let (caller, gives_back) = match work {
        Work::Use(caller) => (caller, false),
        Work::GiveBack(caller) => (caller, true),
        Work::Peek => {
            let peeked = tokens.peek(TOKEN).await?;
            lock(&told).peeked(peeked, &known());
            return Ok(format!("{peeked:?}"));
        }
        Work::Recover => return Ok(format!("{:?}", tokens.recover(None, 10).await?)),
    };
    let lease = match tokens.begin(TOKEN, caller, LEASE).await? {
        TokenBegun::Started(lease) => lease,
        TokenBegun::Replayed(result) => {
            lock(&told).told(caller, &result);
            return Ok("Replayed".to_owned());
        }
        TokenBegun::Gone => {
            lock(&told).gone();
            return Ok("Gone".to_owned());
        }
        in_use @ TokenBegun::InUse { .. } => {
            lock(&told).in_use(&known());
            return Ok(format!("{in_use:?}"));
        }
    };
    lock(&told).begun(&lease, &known());
    if gives_back {
        lock(&told).ended(&lease);
        let aborted = again(|| tokens.abort(&lease)).await;
        return Ok(format!("{aborted:?}"));
    }
    let result = lock(&told).work(caller);
    let committed = again(|| tokens.commit(&lease, &*result)).await;
    lock(&told).ended(&lease);
    match &committed {
        TokenCommitted::Committed(result) => lock(&told).told(caller, result),
        TokenCommitted::Fenced => lock(&told).fenced(result),
    }
    Ok(format!("{committed:?}"))
}

/// Repeats a call until it succeeds.
async fn again<T, F: Future<Output = Result<T>>>(call: impl Fn() -> F) -> T {
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    }
}
