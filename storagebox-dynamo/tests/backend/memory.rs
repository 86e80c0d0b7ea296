//! The memory with which a namespace was created applies to all its clients.

use std::time::Duration;

use storagebox_core::{
    Backend, ClaimId, DedupId, DedupRepo, ErrorKind, ItemBank, Result, Retention, TokenId, TokenStore,
};
use storagebox_testkit::checks::memory;

use crate::scene::with_place;

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A client that ends a claim uses the memory that is stored with the namespace, not the client's own setting.
#[test]
fn every_client_uses_the_memory_of_the_namespace() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let maker = place.builder().remember(Retention::Forever).from_client(&client)?;
        let says_nothing = place.store().await?;
        maker.item_bank(&"namespace".parse()?)?.get(&ClaimId::new("ada")?).await?;
        maker.token_store(&"namespace".parse()?)?.exists(&TokenId::new("token")?).await?;
        maker.dedup_repo(&"namespace".parse()?)?.get(&DedupId::new("id")?).await?;
        memory::fence_each_kind(&says_nothing).await?;
        place.clock.advance(memory::LONG_AGO);
        memory::assert_fenced(&maker).await?;
        memory::assert_fenced(&says_nothing).await
    })
}

#[test]
fn a_client_with_another_memory_is_refused_before_any_write() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let claim = ClaimId::new("ada")?;
        let _ = place.store().await?.item_bank(&"namespace".parse()?)?.release(&claim).await?;
        let before = place.rows().await?.len();
        for other in [Retention::Forever, Retention::For(DAY)] {
            let store = place.builder().remember(other).from_client(&client)?;
            let error = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("bob")?).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
            assert!(error.to_string().contains("7 days"), "{error}");
        }
        assert_eq!(place.rows().await?.len(), before);
        let same = place.builder().remember(Retention::DEFAULT).from_client(&client)?;
        same.item_bank(&"namespace".parse()?)?.release(&claim).await.map(drop)
    })
}
