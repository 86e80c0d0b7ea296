//! The checks at the end of a run.

use std::sync::{Arc, Mutex};

use storagebox_core::{Backend, DedupRepo, OneTimeTokens, Peeked, TokenStore};
use storagebox_proofs::gate::lock;
use storagebox_proofs::workers::ready;

use crate::run::{LEASE, REPLAY, Run, TOKEN, tokens_of};
use crate::scenario::{CALLERS, Work};
use crate::work::worked;

/// Checks the end of a run: lets all leases lapse, lets all callers use the token twice more, and then lets the time to
/// replay the result end.
pub(crate) fn judge(run: &mut Run) -> Result<(), String> {
    run.pass(LEASE);
    let tokens = tokens_of(&run.store, &run.ids);
    let was_told = lock(&run.told).result();
    if let (true, Some(left)) = (was_told.is_some(), records_of(run).into_iter().find(|id| id.starts_with("begun:"))) {
        return Err(format!("OT-4: a caller got {was_told:?}, but {left:?} is left"));
    }
    for _ in 0..2 {
        let answers = CALLERS.map(|caller| come(run, &tokens, caller));
        broken(run)?;
        has_one_result(run, &answers)?;
    }
    let result = lock(&run.told).result();
    if let Some(before) = was_told.filter(|before| result.as_ref() != Some(before)) {
        return Err(format!("OT-3: a caller got {before:?}, and now gets {result:?}"));
    }
    if ready(tokens.peek(TOKEN)).expect("it is read") == Peeked::Live {
        return Err("OT-1: a token that was used looks live".to_owned());
    }
    run.pass(REPLAY);
    nothing_is_left(run)
}

fn come(run: &mut Run, tokens: &OneTimeTokens, caller: &'static str) -> String {
    let known = Arc::new(Mutex::new(Some(run.known())));
    let answer = ready(worked(Work::Use(caller), tokens.clone(), Arc::clone(&run.told), known)).expect("an answer");
    run.workers.trace.push(format!("{caller} comes and is answered {answer}"));
    answer
}

fn broken(run: &Run) -> Result<(), String> {
    lock(&run.told).broken.take().map_or(Ok(()), Err)
}

/// Checks that exactly one caller gets the result, or no caller if the time to replay the result was over.
fn has_one_result(run: &Run, answers: &[String]) -> Result<(), String> {
    let have = answers.iter().filter(|answer| answer.starts_with("Replayed") || answer.starts_with("Committed"));
    let lack = answers.iter().filter(|answer| *answer == "Gone");
    match (have.count(), lack.count()) {
        (1, 2) => Ok(()),
        (0, 3) if run.was_over => Ok(()),
        _ => Err(format!("OT-3: all callers use the token again and get {answers:?}")),
    }
}

fn nothing_is_left(run: &mut Run) -> Result<(), String> {
    let left = records_of(run);
    if !left.is_empty() {
        return Err(format!("OT-4: records are left: {left:?}"));
    }
    let tokens = run.store.token_store(&"links".parse().expect("a name")).expect("tokens");
    if ready(tokens.exists(&TOKEN.parse().expect("a token"))).expect("it is read") {
        return Err("OT-4: the token is left".to_owned());
    }
    let answers = CALLERS.map(|caller| come(run, &tokens_of(&run.store, &run.ids), caller));
    broken(run)?;
    match answers.iter().all(|answer| answer == "Gone") {
        true => Ok(()),
        false => Err(format!("OT-4: after the time to replay, callers get {answers:?}")),
    }
}

fn records_of(run: &Run) -> Vec<String> {
    let records = run.store.dedup_repo(&"links".parse().expect("a name")).expect("records");
    let page = ready(records.list(None, 10)).expect("a page");
    page.entries.into_iter().map(|listed| listed.id.to_string()).collect()
}
