//! The process-wide choice of ciphers stays the program's, even after calls with TLS. The test has a program for
//! itself, because another test could install a provider first.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod broker;

use rustls::crypto::{CryptoProvider, ring};
use storagebox_core::Destination;
use storagebox_testkit::nats::Nats;
use storagebox_testkit::postgres::{self, Postgres};
use storagebox_testkit::redis::{self, Redis};
use storagebox_transports::{NatsQueues, PostgresQueues, RabbitQueues, RedisQueues};

fn assert_untouched(transport: &str) {
    assert!(CryptoProvider::get_default().is_none(), "{transport} has chosen the ciphers of the process");
}

#[tokio::test]
async fn no_transport_chooses_the_ciphers_of_the_process() {
    let name: Destination = "orders".parse().unwrap();
    let server = Redis::start(&redis::Settings::quick().with_tls()).unwrap();
    let url = format!("{}?tls_ca_cert_file={}", server.url(), server.authority().unwrap().display());
    assert!(url.starts_with("rediss://"));
    RedisQueues::connect(&url).unwrap().setup(&name).await.unwrap();
    assert_untouched("redis-streams");

    let server = Postgres::start(&postgres::Settings::quick().with_tls()).unwrap();
    PostgresQueues::connect(&server.tls_url().unwrap()).unwrap().setup().await.unwrap();
    assert_untouched("postgres");

    // The driver prepares TLS, and then fails because the server has none.
    let server = Nats::start().unwrap();
    assert!(NatsQueues::connect(&server.url().replace("nats://", "tls://")).await.is_err());
    NatsQueues::connect(&server.url()).await.unwrap();
    assert_untouched("nats");

    let (address, heard) = broker::refusing(403, "ACCESS_REFUSED").await;
    assert!(RabbitQueues::connect(&format!("amqp://{address}")).await.is_err());
    heard.await.unwrap();
    assert_untouched("rabbitmq");

    ring::default_provider().install_default().expect("the process has its choice");
}
