//! Nothing of the process is touched. In a program of its own, because each process has one implementation of ciphers.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

use std::fs;
use std::panic;

use rustls::crypto::{CryptoProvider, ring};
use storagebox_core::{Backend, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::failed;
use storagebox_testkit::redis::{Redis, Settings};

/// The program's own `install_default().expect()` comes after the store was opened and used, with TLS and without.
#[tokio::test]
async fn a_store_leaves_the_process_its_choice_of_ciphers() -> Result<()> {
    let plain = Redis::start(&Settings::quick()).map_err(failed)?;
    let store = RedisStore::connect(&plain.url())?;
    store.setup().await?;
    store.ping().await?;
    let secure = Redis::start(&Settings::quick().with_tls()).map_err(failed)?;
    let authority = fs::read(secure.authority().expect("it has TLS")).map_err(failed)?;
    let store = RedisStore::builder().authority(&authority)?.connect(&secure.url())?;
    store.setup().await?;
    assert!(CryptoProvider::get_default().is_none(), "the store has chosen for the process");
    ring::default_provider().install_default().expect("the process has its choice");
    store.ping().await?;
    drop(panic::take_hook());
    Ok(())
}
