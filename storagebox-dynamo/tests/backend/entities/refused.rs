//! Arguments that are refused before any request.

use storagebox_core::{Commit, Cursor, ErrorKind, Result};

use super::{commit_of, joined, key, message, split, token};
use crate::scene::with_place;

#[tokio::test]
async fn what_no_ledger_could_keep_is_refused_before_any_request() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = crate::scene::recorded(&place.table, place.builder()).await?;
        let ((joined, _), split) = (joined(&store)?, split(&store)?);
        let commit = commit_of(&*split, "a").await?;
        faults.taken();
        let consumes = Commit { consume: Some(token("t")), ..commit.clone() };
        let creates = Commit { create: vec![token("t")], ..commit.clone() };
        let nothing = Commit { entry: None, ..commit.clone() };
        let unsent = Commit { entry: None, ..creates.clone() };
        for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
            assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        let refused = split.open(&key(), &message("a"), Some(&token("t"))).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        for refused in [split.pending(None, 0).await, split.pending(Some(&Cursor::new("nobody's")), 1).await] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(faults.taken(), [], "requests were sent");
        Ok(())
    })
    .await
}
