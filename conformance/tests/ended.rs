//! The run ends while a case waits for a store that does not answer.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::{
    Certificate, Declared, Embedded, End, Harness, Judgement, Options, Part, Profile, Sandbox, Stop, TestClock, certify,
};
use storagebox_core::{Backend, ListedItem, Namespace, Result, async_trait};
use storagebox_memory::MemoryStore;

/// A server that stops the run at the first request and never answers.
struct Silent(Stop);

#[async_trait]
impl Harness for Silent {
    fn name(&self) -> String {
        "silent".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all().with_transactions()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        self.0.now();
        pending().await
    }
}

#[track_caller]
fn assert_nothing_was_run(certificate: &Certificate) {
    assert!(certificate.entries().iter().all(|entry| entry.end == End::NotRun));
    assert!(matches!(certificate.judgement(), Judgement::Open { ran: 0, .. }), "{}", certificate.to_text());
}

#[test]
fn a_case_is_dropped_when_the_time_is_over() {
    let options = Options::new(Profile::SMOKE).within(Duration::from_millis(50));
    assert_nothing_was_run(&certify(Silent(Stop::new()), options, |_, _| {}).unwrap());
}

#[test]
fn a_case_is_dropped_when_the_run_is_stopped() {
    let stop = Stop::new();
    let options = Options::new(Profile::SMOKE).stop(&stop);
    assert_nothing_was_run(&certify(Silent(stop), options, |_, _| {}).unwrap());
}

/// A server that works until a second sandbox is created, and then stops the run and never answers.
struct SilentLater<H> {
    stop: Stop,
    first: Arc<()>,
    harness: H,
}

struct Place(Box<dyn Sandbox>, #[allow(dead_code, reason = "it is counted")] Arc<()>);

#[async_trait]
impl<H: Harness> Harness for SilentLater<H> {
    fn name(&self) -> String {
        "silent later".to_owned()
    }

    fn declared(&self) -> Declared {
        self.harness.declared()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        if Arc::strong_count(&self.first) > 1 {
            self.stop.now();
            return pending().await;
        }
        let counted = Arc::clone(&self.first);
        Ok(Box::new(Place(self.harness.bare().await?, counted)))
    }
}

#[async_trait]
impl Sandbox for Place {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        self.0.open().await
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        self.0.audit(bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        self.0.clock()
    }
}

#[test]
fn random_sequences_are_dropped_when_the_run_is_stopped() {
    let (stop, harness) = (Stop::new(), Embedded::new("memory", |clock| MemoryStore::builder().clock(clock).build()));
    // A random sequence creates a second sandbox, and blocks its thread until the sandbox is created.
    let options = Options::new(Profile::SMOKE).parts([Part::Ordered]).threads(1).stop(&stop);
    let certificate = certify(SilentLater { stop, first: Arc::default(), harness }, options, |_, _| {}).unwrap();
    let failed = certificate.entries().iter().find(|entry| matches!(entry.end, End::Failed(_)));
    assert!(failed.is_none(), "{failed:?}");
    assert!(matches!(certificate.judgement(), Judgement::Open { ran: 1.., .. }), "{}", certificate.to_text());
}

/// A harness whose clocks the suite cannot move.
struct Clockless<H>(H);

struct WithoutClock(Box<dyn Sandbox>);

#[async_trait]
impl<H: Harness> Harness for Clockless<H> {
    fn name(&self) -> String {
        "clockless".to_owned()
    }

    fn declared(&self) -> Declared {
        self.0.declared()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(WithoutClock(self.0.bare().await?)))
    }
}

#[async_trait]
impl Sandbox for WithoutClock {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        self.0.open().await
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        self.0.audit(bank).await
    }
}

#[test]
fn cases_that_move_the_clock_are_ignored_without_one_and_named_in_the_verdict() {
    let options = Options::new(Profile::SMOKE).parts([Part::Tokens]);
    let harness = Embedded::new("memory", |_| Ok(MemoryStore::new()));
    let certificate = certify(Clockless(harness), options, |_, _| {}).unwrap();
    let (_, tokens) = certificate.parts().into_iter().find(|(part, _)| *part == Part::Tokens).unwrap();
    let told = tokens.to_string();
    assert!(told.starts_with("conforms at L3 ") && told.contains("without a clock that the suite can move"), "{told}");
}
