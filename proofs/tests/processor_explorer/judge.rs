//! The checks at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use storagebox_core::{Backend, EntityLedger, Joins, Key, Message, Outcome, Payload, TokenStore};
use storagebox_proofs::gate::lock;
use storagebox_proofs::workers::ready;

use crate::endpoints::namespace;
use crate::run::{Run, entity, message_of, token_of};
use crate::scenario::{Decides, Scenario, Work};

/// Checks the end of a run: processes all copies again and all sent messages twice, and checks that no entry and no
/// token is left.
pub(crate) fn judge(run: &Run, scenario: &Scenario) -> Result<(), String> {
    let messages: BTreeSet<_> = scenario.workers.iter().map(|work| work.message()).collect();
    let expected = expected(run, scenario, &messages);
    changed_once(run, scenario, &expected)?;
    for message in &messages {
        let again = ready(run.endpoints.first().process(&message_of(message)));
        match again {
            Ok(Outcome::Duplicate { .. }) => {}
            Ok(Outcome::Resumed { .. }) => return Err(format!("P-4: the entry of {message} is left")),
            _ => return Err(format!("P-1: {message} is delivered again and gets {again:?}")),
        }
    }
    changed_once(run, scenario, &expected)?;
    sent_alike(run)?;
    arrived_once(run, scenario, &expected)?;
    nothing_is_left(run, &messages)
}

/// Returns the messages that must have changed the entity. Leaves out messages that the handler or an `abandon` ended
/// without an effect.
fn expected<'a>(run: &Run, scenario: &Scenario, messages: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let state = state(run, "first", &entity());
    let may_be_without = |message: &str| match scenario.handler {
        Decides::AfterTheOther => message == "a",
        _ => scenario.workers.contains(&Work::Abandon("a")) && message == "a",
    };
    let shows = |message: &str| state.contains(message) && !run.is_abandoned();
    messages.iter().copied().filter(|message| !may_be_without(message) || shows(message)).collect()
}

fn state(run: &Run, endpoint: &str, entity: &Key) -> String {
    let ledger = run.endpoints.store.entity_ledger(&namespace(endpoint), &Joins::default()).expect("entities");
    let opened = ready(ledger.open(entity, &"nobody's".parse().expect("an id"), None)).expect("it opens");
    opened.state.map_or(String::new(), |state: Payload| String::from_utf8_lossy(state.as_bytes()).into_owned())
}

fn changed_once(run: &Run, scenario: &Scenario, expected: &BTreeSet<&str>) -> Result<(), String> {
    let mut state: Vec<_> = state(run, "first", &entity()).chars().map(String::from).collect();
    state.sort();
    match scenario.handler {
        Decides::Deletes if state.is_empty() => Ok(()),
        _ if state.iter().map(String::as_str).eq(expected.iter().copied()) => Ok(()),
        _ if state.len() < expected.len() => {
            Err(format!("P-3: all are acknowledged, but the entity was changed by {state:?} instead of {expected:?}"))
        }
        _ => Err(format!("P-1: the entity was changed by {state:?} instead of {expected:?}")),
    }
}

/// Checks that all messages that the handler sent for one incoming message have the same id, token and body, and were
/// sent after their token existed.
fn sent_alike(run: &Run) -> Result<(), String> {
    let mut by_cause = BTreeMap::<String, BTreeSet<_>>::new();
    for (sent, is_there) in run.endpoints.wire.sent() {
        if !is_there {
            return Err(format!("P-2: {sent:?} is sent before its token exists"));
        }
        let body = String::from_utf8_lossy(sent.body.as_bytes()).into_owned();
        let cause = body.split(' ').next().unwrap_or_default().to_owned();
        by_cause.entry(cause).or_default().insert((sent.id, sent.token, body));
    }
    match by_cause.iter().find(|(_, copies)| copies.len() > 1) {
        Some((cause, copies)) => Err(format!("P-2: {cause} sends different messages: {copies:?}")),
        None => Ok(()),
    }
}

fn arrived_once(run: &Run, scenario: &Scenario, expected: &BTreeSet<&str>) -> Result<(), String> {
    let second = run.endpoints.second();
    let sent = run.endpoints.wire.sent();
    let mut processed = vec![];
    for (message, _) in sent.iter().chain(&sent) {
        let body = String::from_utf8_lossy(message.body.as_bytes()).into_owned();
        let copy = Message::new(&message.id, "entity", &message.body).expect("a message");
        if let Outcome::Processed { .. } = ready(second.process(&copy.with_token(message.token.clone()))).expect("done")
        {
            processed.push(body.split(' ').next().unwrap_or_default().to_owned());
        }
    }
    processed.sort();
    let sends = scenario.handler != Decides::SendsNothing;
    let wanted: Vec<_> = expected.iter().filter(|_| sends).map(ToString::to_string).collect();
    if processed == wanted {
        return Ok(());
    }
    Err(format!("P-3: the second endpoint processed messages of {processed:?} instead of {wanted:?}"))
}

fn nothing_is_left(run: &Run, messages: &BTreeSet<&str>) -> Result<(), String> {
    let tokens = run.endpoints.tokens();
    let incoming = messages.iter().map(|message| token_of(message));
    let created = lock(&run.endpoints.created.0).clone();
    for token in created.into_iter().chain(incoming) {
        if ready(tokens.exists(&token)).expect("it is read") {
            return Err(format!("P-4: {token:?} is left"));
        }
    }
    for endpoint in ["first", "second"] {
        let ledger = run.endpoints.store.entity_ledger(&namespace(endpoint), &Joins::default()).expect("entities");
        let pending = ready(ledger.pending(None, 10)).expect("a page");
        if !pending.entries.is_empty() {
            return Err(format!("P-4: {:?} is left at the {endpoint} endpoint", pending.entries));
        }
    }
    Ok(())
}
