//! The shop's spans show the order of each call, and no customer's address.

#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::io;
use std::sync::{Arc, Mutex};

use storagebox::Store;
use storagebox_examples::shop::Shop;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn span_of_a_call_shows_the_order_but_no_address() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter("debug")
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let _default = tracing::subscriber::set_default(subscriber);
    let shop = Shop::open(Store::open("memory:").await.unwrap()).await.unwrap();
    shop.order("order-1", "red-shoes").await.unwrap();
    shop.voucher("ada@example.com").await.unwrap();
    let log = log.text();
    let is_of_order = |line: &&str| line.contains("order{id=\"order-1\"") && line.contains("operation=\"apply\"");
    assert!(log.lines().find(is_of_order).is_some_and(|line| line.contains("namespace=stock")), "{log}");
    assert!(log.contains("voucher:call{") && !log.contains("ada@example.com"), "{log}");
}
