//! Scripts that the server forgets, does not have, or may not run.

use redis::cmd;
use storagebox_core::{Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::redis::Settings;

use crate::scene::{kill, with_place, with_server};

#[test]
fn a_flushed_script_is_sent_again() -> Result<()> {
    with_place(async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?, Item::new("two")?]).await?;
        for name in ["ada", "bob"] {
            place.server.ask::<()>(cmd("SCRIPT").arg("FLUSH")).await?;
            assert!(matches!(bank.take(&name.parse()?, Hold::Forever).await?, Taken::New(_)), "{name}");
        }
        Ok(())
    })
}

#[test]
fn scripts_are_sent_again_after_the_server_was_killed() -> Result<()> {
    with_server(Settings::durable(), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        let first = bank.take(&"ada".parse()?, Hold::Forever).await?;
        kill(&place.server).await?;
        assert_eq!(bank.take(&"ada".parse()?, Hold::Forever).await?.item(), first.item());
        Ok(())
    })
}

/// A missing right must be reported before the first write, because the server does not undo a half-done script.
#[test]
fn opening_a_namespace_without_a_right_is_denied() -> Result<()> {
    with_place(async |place| {
        let user = place.server.user();
        place.server.ask::<()>(cmd("ACL").arg("SETUSER").arg(user).arg("-lpop").arg("-zadd")).await?;
        let error = place
            .store()?
            .item_bank(&"namespace".parse()?)?
            .take(&"ada".parse().unwrap(), Hold::Forever)
            .await
            .unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Denied, Certainty::NotApplied), "{error}");
        assert!(error.to_string().contains("+lpop +zadd"), "{error}");
        Ok(())
    })
}

#[test]
fn a_user_is_denied_the_prefix_of_another_user() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url_at(place.server.address());
        let store = storagebox_redis::RedisStore::builder().prefix("sbtest_other")?.connect(&url)?;
        let error = store.ping().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        Ok(())
    })
}
