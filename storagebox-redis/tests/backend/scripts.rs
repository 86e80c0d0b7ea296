//! Scripts that the server forgets, does not have, or may not run.

use redis::cmd;
use storagebox_core::{Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::redis::Settings;

use crate::scene::{kill, with_place, with_server};

#[test]
fn a_script_that_was_flushed_is_told_again() -> Result<()> {
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
fn a_server_that_was_killed_is_told_its_scripts_again() -> Result<()> {
    with_server(Settings::durable(), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        let first = bank.take(&"ada".parse()?, Hold::Forever).await?;
        kill(&place.server).await?;
        assert_eq!(bank.take(&"ada".parse()?, Hold::Forever).await?.item(), first.item());
        Ok(())
    })
}

/// A missing right is found before anything is written: a script that lacked it half-way would not be undone.
#[test]
fn a_missing_right_is_denied_when_a_namespace_is_opened() -> Result<()> {
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

/// The user has access to its own keys only: another store on the same server is out of reach.
#[test]
fn a_prefix_that_is_not_the_user_s_is_denied() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url_at(place.server.address());
        let store = storagebox_redis::RedisStore::builder().prefix("sbtest_other")?.connect(&url)?;
        let error = store.ping().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        Ok(())
    })
}
