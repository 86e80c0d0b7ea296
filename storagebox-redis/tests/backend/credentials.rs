//! Logins that change, and logins of sentinels.

use std::sync::{Arc, Mutex};

use redis::cmd;
use storagebox_core::{Backend, ErrorKind, ItemBank, Result};
use storagebox_redis::{Login, RedisStore};
use storagebox_testkit::redis::Settings;

use crate::scene::with_server;
use crate::support::{Place, Server, failed};

/// The password that is valid now, and the number of requests for it.
#[derive(Clone, Default)]
struct Vault(Arc<Mutex<(String, usize)>>);

impl Vault {
    fn put(&self, password: &str) {
        self.0.lock().unwrap().0 = password.to_owned();
    }

    fn take(&self) -> String {
        let mut vault = self.0.lock().unwrap();
        vault.1 += 1;
        vault.0.clone()
    }
}

/// Changes the password of the test's user and ends the user's connections.
async fn change_password(place: &Place, password: &str) -> Result<()> {
    let user = place.server.user();
    let mut set = cmd("ACL");
    set.arg("SETUSER").arg(user).arg("resetpass").arg(format!(">{password}"));
    place.server.ask::<()>(&set).await?;
    place.server.ask::<()>(cmd("CLIENT").arg("KILL").arg("USER").arg(user)).await
}

#[test]
fn each_new_connection_asks_for_the_login() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (vault, user) = (Vault::default(), place.server.user().to_owned());
        let url = format!("redis://{}", place.server.address());
        let asked = vault.clone();
        let builder = place.builder()?.credentials(move || {
            let login = Login::new(user.as_str(), asked.take());
            async move { Ok(login) }
        });
        let shown = format!("{builder:?}");
        let store = builder.connect(&url)?;
        for password in ["hunter2-first", "hunter2-second", "hunter2-third"] {
            change_password(place, password).await?;
            vault.put(password);
            store.item_bank(&"namespace".parse()?)?.counts().await?;
        }
        assert_eq!(vault.0.lock().unwrap().1, 3, "once a connection");
        change_password(place, "hunter2-fourth").await?;
        let error = store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert!(!format!("{shown} {store:?} {error:?}").contains("hunter2"));
        Ok(())
    })
}

#[tokio::test]
async fn an_error_of_the_login_function_is_the_error_of_the_call() -> Result<()> {
    let why = || async { Err(storagebox_core::Error::new(ErrorKind::Unavailable, "the vault is shut")) };
    let store = RedisStore::builder().credentials(why).connect("redis://127.0.0.1:1")?;
    let error = store.ping().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("the vault is shut"), "{error}");
    Ok(())
}

/// A call on a cluster succeeds after the login has changed and the server has ended all connections.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_connection_uses_the_current_login() -> Result<()> {
    let server = Server::cluster(Settings::quick()).await?;
    let place = server.place().await?;
    let (vault, user) = (Vault::default(), server.user().to_owned());
    vault.put("hunter2-first");
    for mut master in server.masters().await? {
        set_password(&mut master, &user, "hunter2-first").await?;
    }
    let asked = vault.clone();
    let builder = place.builder()?.credentials(move || {
        let login = Login::new(user.as_str(), asked.take());
        async move { Ok(login) }
    });
    let url = server.own_cluster().map(storagebox_testkit::redis::Cluster::url).unwrap_or_default();
    let bank = builder.connect(&url)?.item_bank(&"namespace".parse()?)?;
    bank.counts().await?;
    vault.put("hunter2-second");
    for mut master in server.masters().await? {
        set_password(&mut master, server.user(), "hunter2-second").await?;
    }
    bank.counts().await.map(drop)
}

async fn set_password(node: &mut redis::aio::MultiplexedConnection, user: &str, password: &str) -> Result<()> {
    let mut set = redis::pipe();
    set.cmd("ACL").arg("SETUSER").arg(user).arg("resetpass").arg(format!(">{password}")).ignore();
    set.cmd("CLIENT").arg("KILL").arg("USER").arg(user).ignore();
    set.exec_async(node).await.map_err(failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_use_their_own_login() -> Result<()> {
    let server = Server::sentinels(Settings::quick()).await?;
    let place = server.place().await?;
    for sentinel in server.watchers() {
        let mut set = redis::pipe();
        set.cmd("ACL").arg("SETUSER").arg("watcher").arg("on").arg(">hunter2/@").arg("+@all").ignore();
        set.cmd("ACL").arg("SETUSER").arg("default").arg("off").ignore();
        let client = redis::Client::open(sentinel.url()).map_err(failed)?;
        let mut connection = client.get_multiplexed_async_connection().await.map_err(failed)?;
        set.exec_async(&mut connection).await.map_err(failed)?;
    }
    let url = server.url();
    let refused = place.builder()?.connect(&url)?.ping().await.unwrap_err();
    assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    let known = format!("{url}?sentinel_user=watcher&sentinel_password=hunter2%2F%40");
    place.builder()?.connect(&known)?.item_bank(&"namespace".parse()?)?.counts().await?;
    let login = Login::new("watcher", "hunter2/@");
    place.builder()?.sentinel_login(login).connect(&url)?.item_bank(&"namespace".parse()?)?.counts().await?;
    let wrong = place.builder()?.sentinel_login(Login::new("watcher", "hunter2")).connect(&url)?;
    wrong.ping().await.map_or(Ok(()), |()| Err(failed("a sentinel took a wrong password")))
}

#[test]
fn an_invalid_login_or_certificate_in_a_url_is_refused() {
    for (url, because) in [
        ("redis://host?sentinel_password=hunter2", "not a sentinel URL"),
        ("redis+cluster://host?sentinel_user=a&sentinel_password=hunter2", "not a sentinel URL"),
        ("redis+sentinel://host/mymaster?sentinel_user=hunter2", "sentinel_password"),
        ("redis+sentinel://host/mymaster?sentinel_password=hunter2%2", "%"),
        ("rediss://host?tls_cert_file=/hunter2", "tls_cert_file"),
        ("rediss://host?tls_ca_cert_file=Cargo.toml", "no certificate"),
        ("rediss://host?tls_cert_file=Cargo.toml", "both"),
        ("redis://host?tls_ca_cert_file=Cargo.toml", "rediss"),
        ("rediss://host?tls_cert_file=Cargo.toml&tls_key_file=Cargo.toml", "no certificate"),
    ] {
        let error = RedisStore::connect(url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{url}");
        assert!(error.to_string().contains(because) && !format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}
