//! The eight faults of the Python package, each as it was found there. This library must not have them on its tables.

use std::time::Duration;

use storagebox_core::{Added, Certainty, ErrorKind, Item, Result, Taken};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{assign, at_once, ensure_conserved, given};
use crate::support::{Articles, items};

/// The Python package looked for a free item before it read the record of the id. A returning user got nothing if the
/// bank was empty.
#[tokio::test]
async fn python_fault_1_empty_bank_still_answers_a_returning_user() -> Result<()> {
    Articles::with(async |articles| {
        let tables = articles.filled(1).await?;
        let item = assign(&tables, "ada").await?;
        assert_eq!(articles.free().await?.len(), 0);
        for tables in [&tables, &articles.open().await?] {
            assert!(matches!(tables.assign("ada").await?, Taken::Again(held) if held.item == item));
            assert_eq!(tables.assign("bob").await?, Taken::Empty);
        }
        Ok(())
    })
    .await
}

/// The Python package took every error of the record's write, even throttling, for "assigned already", and returned
/// nothing.
#[tokio::test]
async fn python_fault_2_error_on_the_record_is_not_assigned_already() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(1).await?;
        let (tables, faults) = articles.through(articles.builder()).await?;
        faults.script_for("TransactWriteItems", std::iter::repeat_n(Fault::Throttle, 40));
        let error = tables.assign("ada").await.expect_err("a record that cannot be written");
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Throttled, Certainty::NotApplied), "{error}");
        ensure_conserved(articles, 1, &[]).await?;
        faults.heal();
        assert!(matches!(tables.assign("ada").await?, Taken::New(_)));
        Ok(())
    })
    .await
}

/// The Python package added the items of a batch by recursion, which became too deep.
#[tokio::test(flavor = "multi_thread")]
async fn python_fault_3_batch_of_26_000_items_is_added() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, batch) = (articles.open().await?, items(26_000)?);
        assert_eq!(tables.add(&batch).await?, Added { added: 26_000, already_present: 0 });
        assert_eq!(tables.counts().await?.free, 26_000);
        assert_eq!(tables.add(&batch[25_000..]).await?, Added { added: 0, already_present: 1_000 });
        assign(&tables, "ada").await.map(drop)
    })
    .await
}

/// The Python package read the unprocessed part of a batch under a wrong name, and lost 15 of 25 items.
#[tokio::test(flavor = "multi_thread")]
async fn python_fault_4_unprocessed_part_of_a_batch_is_added() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, faults) = articles.through(articles.builder().call_timeout(Duration::from_secs(60))).await?;
        faults.random(4, 40, &[Fault::Unprocessed, Fault::Throttle, Fault::ErrorBefore, Fault::DropBefore]);
        let all = items(1_000)?;
        for part in all.chunks(125) {
            assert_eq!(tables.add(part).await?, Added { added: 125, already_present: 0 });
            assert_eq!(tables.add(part).await?, Added { added: 0, already_present: 125 });
        }
        assert!(faults.injected().contains_key("Unprocessed"), "{:?}", faults.injected());
        faults.heal();
        let names: Vec<_> = all.iter().map(|item| item.as_str().to_owned()).collect();
        assert!(articles.free().await?.iter().eq(&names), "the items there are not those that were added");
        Ok(())
    })
    .await
}

/// In the Python package, a lost reply left an item in neither table, and the retry failed.
#[tokio::test]
async fn python_fault_5_lost_reply_of_the_take_loses_no_item() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(1).await?;
        let (tables, faults) = articles.through(articles.builder()).await?;
        faults.script_for("TransactWriteItems", [Fault::DropAfter]);
        let item = assign(&tables, "ada").await?;
        assert_eq!(given(&tables, "ada").await?, Some(item.clone()));
        assert_eq!(assign(&tables, "ada").await?, item);
        ensure_conserved(articles, 1, &[]).await
    })
    .await
}

/// In the Python package, a crash between the two writes lost the item. This library makes both writes in one step.
#[tokio::test]
async fn python_fault_6_crash_between_take_and_record_loses_no_item() -> Result<()> {
    Articles::with(async |articles| {
        articles.filled(2).await?;
        let patient = Duration::from_secs(3);
        for (id, fault, is_taken) in [("ada", Fault::DropAfter, true), ("bob", Fault::DropBefore, false)] {
            let (dying, faults) = articles.through(articles.builder().call_timeout(patient)).await?;
            let then_dead = std::iter::repeat_n(Fault::DropBefore, 100);
            faults.script_for("TransactWriteItems", std::iter::once(fault).chain(then_dead));
            let error = dying.assign(id).await.expect_err("a call whose process dies");
            assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
            ensure_conserved(articles, 2, &[]).await?;
            let fresh = articles.open().await?;
            let taken = fresh.assign(id).await?;
            assert_eq!(matches!(taken, Taken::Again(_)), is_taken, "{id} was told {taken:?}");
            ensure_conserved(articles, 2, &[(id.to_owned(), Ok(taken))]).await?;
        }
        Ok(())
    })
    .await
}

/// DynamoDB refused the Python package's whole batch if it contained an item twice.
#[tokio::test]
async fn python_fault_7_duplicate_in_one_call_is_added_once() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, code) = (articles.open().await?, items(1)?.remove(0));
        let twice = [code.clone(), code.clone()];
        assert_eq!(tables.add(&twice).await?, Added { added: 1, already_present: 0 });
        let many = [items(130)?, vec![code; 130], items(130)?].concat();
        assert_eq!(tables.add(&many).await?, Added { added: 129, already_present: 1 });
        assert_eq!(articles.free().await?.len(), 130);
        Ok(())
    })
    .await
}

/// The Python package did not remember items that it had given away. If such an item was added again, it was given to a
/// second id.
#[tokio::test]
async fn python_fault_8_assigned_item_added_again_stays_assigned() -> Result<()> {
    Articles::with(async |articles| {
        let (tables, codes) = (articles.filled(1).await?, items(1)?);
        let item = assign(&tables, "ada").await?;
        assert_eq!(tables.add(&codes).await?, Added { added: 0, already_present: 1 });
        assert_eq!(tables.assign("bob").await?, Taken::Empty);
        // A record that the package has written counts too.
        articles.put(&articles.records, &[("deduplication_id", "eve"), ("item_string", "CODE-99999")]).await?;
        let theirs = Item::new("CODE-99999")?;
        assert_eq!(tables.add(&[theirs]).await?, Added { added: 0, already_present: 1 });
        let answers = at_once(&tables, ["ada", "bob", "eve"].map(str::to_owned)).await?;
        let told: Vec<_> = answers.iter().map(|(_, answer)| answer.as_ref().ok().and_then(Taken::item)).collect();
        let names: Vec<_> = told.iter().map(|item| item.map(Item::as_str)).collect();
        assert_eq!(names, [Some(item.as_str()), None, Some("CODE-99999")]);
        ensure_conserved(articles, 2, &[]).await
    })
    .await
}
