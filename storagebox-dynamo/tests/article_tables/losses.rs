//! Lost replies, late requests, and a table that is throttled.

use std::time::Duration;

use storagebox_core::{Certainty, ErrorKind, Result, Taken};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{assign, at_once, ensure_conserved, tally};
use crate::support::{Articles, items};

const OF_A_TRANSACTION: [Fault; 11] = [
    Fault::ErrorBefore,
    Fault::ErrorAfter,
    Fault::DropBefore,
    Fault::DropAfter,
    Fault::Torn,
    Fault::Throttle,
    Fault::Conflict,
    Fault::InProgress,
    Fault::Delay(Duration::from_millis(5)),
    Fault::Late,
    Fault::Twice,
];

#[tokio::test(flavor = "multi_thread")]
async fn an_assign_survives_each_fault_once_and_twice_in_a_row() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(100).await?;
        let (tables, faults) = articles.through(articles.builder()).await?;
        let mut answers = vec![];
        for fault in OF_A_TRANSACTION {
            for times in [1, 2] {
                let id = format!("{}-{times}", fault.name());
                faults.script_for("TransactWriteItems", std::iter::repeat_n(fault, times));
                let taken = tables.assign(id.as_str()).await;
                assert!(matches!(taken, Ok(Taken::New(_))), "{id}: {taken:?}");
                assert!(faults.injected()[&fault.name()] > 0, "{id}: the fault did not happen");
                answers.push((id, taken));
                faults.heal();
            }
        }
        faults.land().await;
        ensure_conserved(articles, 100, &answers).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_in_a_fifth_of_requests_lose_no_item_and_give_none_twice() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, faults) = articles.through(articles.builder().call_timeout(Duration::from_secs(60))).await?;
        faults.random(1, 20, Fault::ALL);
        let added = tables.add(&items(400)?).await?;
        assert_eq!((added.added, added.already_present), (400, 0));
        let mut answers = vec![];
        for wave in 0..8 {
            let ids = (0..48).map(|task| format!("customer-{wave}-{}", task % 40));
            answers.extend(at_once(&tables, ids).await?);
        }
        faults.heal();
        faults.land().await;
        assert_eq!(tally(&answers), (320, 64, 0));
        assert!(faults.total() > 50, "only {} faults", faults.total());
        ensure_conserved(articles, 400, &answers).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_in_a_fifth_of_requests_cause_no_wrong_outcome_empty() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(30).await?;
        let (tables, faults) = articles.through(articles.builder().call_timeout(Duration::from_secs(60))).await?;
        faults.random(2, 20, Fault::ALL);
        let answers = at_once(&tables, (0..48).map(|task| format!("customer-{task}"))).await?;
        faults.heal();
        faults.land().await;
        let (new, again, empty) = tally(&answers);
        assert_eq!((new + articles.free().await?.len(), again), (30, 0));
        for (id, answer) in &answers {
            if let Err(error) = answer {
                assert_eq!(error.certainty(), Certainty::Unknown, "{id}: {error}");
            }
        }
        assert!(empty <= 18, "{empty} of 48 were told that 30 items are none");
        ensure_conserved(articles, 30, &answers).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_scan_returns_an_error_and_not_the_outcome_empty() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(2).await?;
        let (tables, faults) = articles.through(articles.builder()).await?;
        for (fault, kind) in [(Fault::Throttle, ErrorKind::Throttled), (Fault::DropBefore, ErrorKind::Unavailable)] {
            faults.script_for("Scan", std::iter::repeat_n(fault, 100));
            let error = tables.assign("ada").await.expect_err("a bank that cannot be looked through");
            assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error}");
            faults.heal();
        }
        assign(&tables, "ada").await?;
        ensure_conserved(articles, 2, &[]).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_has_at_most_one_item_after_a_dropped_assign() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.filled(200).await?;
        let mut dropped = 0;
        for number in 0..100 {
            let (tables, id) = (tables.clone(), format!("customer-{number}"));
            let call = tokio::spawn(async move { tables.assign(id.as_str()).await });
            tokio::time::sleep(Duration::from_micros(fastrand::u64(0..3_000))).await;
            call.abort();
            dropped += usize::from(call.await.is_err());
        }
        assert!(dropped > 10, "only {dropped} of 100 calls were dropped in time");
        ensure_conserved(articles, 200, &[]).await?;
        let answers = at_once(&tables, (0..100).map(|number| format!("customer-{number}"))).await?;
        assert_eq!(articles.given().await?.len(), 100);
        ensure_conserved(articles, 200, &answers).await
    })
    .await
}
