//! The log and the end of a worker whose queue, group, right or password is missing.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod said;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::jetstream;
use futures_util::{Stream, StreamExt};
use redis::aio::MultiplexedConnection;
use redis::cmd;
use sqlx::{AssertSqlSafe, Connection, PgConnection, raw_sql};
use storagebox_core::{
    Backend, BoxError, Decision, Destination, Dispatcher, ErrorKind, Joins, Key, Message, MissingToken, Outgoing,
    Payload, Processor,
};
use storagebox_memory::MemoryStore;
use storagebox_testkit::nats::Nats;
use storagebox_testkit::redis::{Redis, Settings};
use storagebox_testkit::servers::{shared_postgres, shared_redis};
use storagebox_transports::{
    ConsumeOptions, Consumed, Delivery, NatsQueue, NatsQueues, PostgresQueues, Received, RedisQueues, Settle, consume,
};
use tokio::sync::mpsc;
use tracing::level_filters::LevelFilter;

use said::Said;

/// Consumes until `messages` messages are processed or the loop ends by itself. The messages count as duplicates,
/// because the store has none of their tokens.
async fn worker<D: Delivery>(deliveries: impl Stream<Item = Result<D, BoxError>> + Send, messages: usize) -> Consumed {
    let (done, mut all) = mpsc::unbounded_channel();
    let enough = async move {
        for _ in 0..messages {
            all.recv().await;
        }
    };
    let options = ConsumeOptions::default().observe(move |_, _| done.send(()).unwrap_or_default()).until(enough);
    run(deliveries, options).await
}

async fn run<D: Delivery>(
    deliveries: impl Stream<Item = Result<D, BoxError>> + Send,
    options: ConsumeOptions,
) -> Consumed {
    let store = MemoryStore::new();
    let tokens = store.token_store(&"tokens".parse().unwrap()).unwrap();
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
    let handler = async |_: Option<Payload>, _: Message| Ok(Decision::keep());
    let processor = Processor::new(entities, tokens, handler).without_token(MissingToken::Unprotected);
    let entity_of = |_: &Received| -> Result<Key, BoxError> { Ok("entity".parse()?) };
    consume(deliveries, entity_of, &processor, options).await
}

/// Checks that the loop ended with an error of this kind, and that the log has one line at `ERROR`.
fn assert_ended(consumed: &Consumed, said: &Said, kind: ErrorKind) {
    let error = consumed.error.as_ref().unwrap();
    assert_eq!((error.kind(), consumed.stream_errors), (kind, 1), "{error}: {:?}", std::error::Error::source(error));
    assert_eq!(said.lines("ERROR").len(), 1, "{}", said.text());
    assert!(said.text().contains("the worker stops"), "{}", said.text());
    assert!(!said.text().contains("hunter2"), "{}", said.text());
}

fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("r{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst))
}

fn message(queue: &str) -> Outgoing {
    let (id, token) = ("1".parse().unwrap(), "token".parse().unwrap());
    Outgoing { id, token, destination: queue.parse().unwrap(), body: "body".try_into().unwrap() }
}

async fn direct(url: &str) -> MultiplexedConnection {
    redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

/// Creates a Redis user with these rights, and returns a URL with the login of the user.
async fn user(url: &str, rights: &[&str]) -> String {
    let (mut set, name) = (cmd("ACL"), unique());
    set.arg("SETUSER").arg(&name).arg("on").arg(">hunter2").arg("~*").arg(rights);
    set.query_async::<()>(&mut direct(url).await).await.unwrap();
    url.replace("redis://", &format!("redis://{name}:hunter2@"))
}

#[tokio::test]
async fn loop_ends_after_a_redis_error_that_a_retry_cannot_resolve() {
    let url = shared_redis().unwrap().url();
    let wrong = user(url, &["+@all"]).await.replace("hunter2", "wrong-hunter2");
    let lacking = user(url, &["+@all", "-xreadgroup"]).await;
    let renamed = Redis::start(&Settings::quick().with("rename-command", "XREADGROUP \"\"")).unwrap();
    let typed = unique();
    cmd("SET").arg(&typed).arg(1).query_async::<()>(&mut direct(url).await).await.unwrap();
    for (url, name, kind) in [
        (wrong, unique(), ErrorKind::Denied),
        (lacking, unique(), ErrorKind::Denied),
        (renamed.url(), unique(), ErrorKind::Unsupported),
        (url.to_owned(), typed, ErrorKind::Corrupt),
    ] {
        let (said, _here) = Said::here(LevelFilter::INFO);
        let name: Destination = name.parse().unwrap();
        let queues = RedisQueues::connect(&url).unwrap();
        // Some of these queues cannot be set up.
        let _ = queues.setup(&name).await;
        assert_ended(&worker(queues.deliveries(&name), 1).await, &said, kind);
    }
}

/// The user may read the queue and may not settle messages.
#[tokio::test]
async fn loop_ends_if_redis_refuses_to_settle_a_message() {
    let url = shared_redis().unwrap().url();
    let (queues, name) = (RedisQueues::connect(&user(url, &["+@all", "-xdel"]).await).unwrap(), unique());
    queues.setup(&name.parse().unwrap()).await.unwrap();
    queues.dispatch(&[message(&name)]).await.unwrap();
    let (said, _here) = Said::here(LevelFilter::INFO);
    let consumed = run(queues.deliveries(&name.parse().unwrap()), ConsumeOptions::default()).await;
    assert_eq!((consumed.duplicates, consumed.failed_settles), (1, 1));
    assert_eq!(consumed.error.unwrap().kind(), ErrorKind::Denied);
    assert!(said.text().contains("XDEL") && said.text().contains("the worker stops"), "{}", said.text());
}

#[tokio::test]
async fn missing_redis_group_is_created_with_a_warning() {
    let (said, _here) = Said::here(LevelFilter::INFO);
    let name = unique();
    let queues = RedisQueues::connect(shared_redis().unwrap().url()).unwrap();
    queues.dispatch(&[message(&name)]).await.unwrap();
    assert_eq!(worker(queues.deliveries(&name.parse().unwrap()), 1).await.duplicates, 1);
    assert_eq!(said.lines("WARN").len(), 1, "{}", said.text());
    assert!(said.text().contains("created again") && said.text().contains(&name), "{}", said.text());
}

#[tokio::test]
async fn worker_waits_if_it_lacks_the_right_to_create_the_redis_group() {
    let (said, _here) = Said::here(LevelFilter::INFO);
    let url = shared_redis().unwrap().url();
    let (queues, name) = (RedisQueues::connect(&user(url, &["+@all", "-xgroup"]).await).unwrap(), unique());
    let others = RedisQueues::connect(url).unwrap();
    others.dispatch(&[message(&name)]).await.unwrap();
    let name: Destination = name.parse().unwrap();
    let set_up = async {
        while said.lines("WARN").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        others.setup(&name).await.unwrap();
    };
    let (consumed, ()) = tokio::join!(worker(queues.deliveries(&name), 1), set_up);
    assert_eq!((consumed.duplicates, consumed.error.is_none()), (1, true));
    assert!(said.text().contains("not set up"), "{}", said.text());
}

/// Many errors of one kind give one line in the log.
#[tokio::test]
async fn unreachable_server_is_logged_once() {
    let (said, _here) = Said::here(LevelFilter::INFO);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let queues = RedisQueues::connect(&format!("redis://ann:hunter2@{free}")).unwrap();
    let until = tokio::time::sleep(Duration::from_secs(1));
    let consumed = run(queues.deliveries(&"orders".parse().unwrap()), ConsumeOptions::default().until(until)).await;
    assert!(consumed.stream_errors > 1 && consumed.error.is_none(), "{consumed:?}");
    assert_eq!(said.lines("keeps asking").len(), 1, "{}", said.text());
    assert!(!said.text().contains("hunter2"));
}

/// Creates a schema with queues, and a role with the rights `grants`. Returns a URL with the login of the role, and the
/// name of the role.
async fn role(grants: &str) -> (String, String) {
    let (url, name) = (shared_postgres().unwrap().url(), unique());
    PostgresQueues::connect(url).unwrap().schema(&name).unwrap().setup().await.unwrap();
    let mut direct = PgConnection::connect(url).await.unwrap();
    let sql = format!("CREATE ROLE {name} LOGIN PASSWORD 'hunter2'; {}", grants.replace("{name}", &name));
    raw_sql(AssertSqlSafe(sql)).execute(&mut direct).await.unwrap();
    let (_, rest) = url.rsplit_once('@').unwrap();
    (format!("postgres://{name}:hunter2@{rest}?schema={name}"), name)
}

#[tokio::test]
async fn loop_ends_after_a_postgres_error_that_a_retry_cannot_resolve() {
    let all = "GRANT USAGE ON SCHEMA {name} TO {name}; GRANT ALL ON ALL TABLES IN SCHEMA {name} TO {name}; \
               GRANT ALL ON ALL SEQUENCES IN SCHEMA {name} TO {name};";
    for (url, kind) in [
        (role(all).await.0.replace("hunter2", "wrong-hunter2"), ErrorKind::Denied),
        (role("").await.0, ErrorKind::Denied),
        (role(&format!("{all} ALTER TABLE {{name}}.messages DROP COLUMN attempts")).await.0, ErrorKind::Corrupt),
    ] {
        let (said, _here) = Said::here(LevelFilter::INFO);
        let queues = PostgresQueues::connect(&url).unwrap();
        assert_ended(&worker(queues.deliveries(&"orders".parse().unwrap()), 1).await, &said, kind);
    }
}

#[tokio::test]
async fn worker_waits_for_a_missing_postgres_table() {
    let (said, _here) = Said::here(LevelFilter::INFO);
    let queues = PostgresQueues::connect(&format!("{}?schema={}", shared_postgres().unwrap().url(), unique())).unwrap();
    let set_up = async {
        while said.lines("keeps asking").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        queues.setup().await.unwrap();
        queues.dispatch(&[message("orders")]).await.unwrap();
    };
    let (consumed, ()) = tokio::join!(worker(queues.deliveries(&"orders".parse().unwrap()), 1), set_up);
    assert_eq!((consumed.duplicates, consumed.error.is_none()), (1, true));
    assert!(said.text().contains("does not exist"), "{}", said.text());
}

/// The URL names one schema, or one prefix, for the store and for its queues.
#[tokio::test]
async fn a_store_and_its_queues_share_a_url() {
    let url = format!("{}?schema={}&call_timeout=9s&remember=3d", shared_postgres().unwrap().url(), unique());
    let (store, queues) =
        (storagebox_postgres::PostgresStore::connect(&url).unwrap(), PostgresQueues::connect(&url).unwrap());
    queues.setup().await.unwrap();
    for _ in 0..2 {
        store.setup().await.unwrap();
        queues.setup().await.unwrap();
    }
    queues.dispatch(&[message("orders")]).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(worker(queues.deliveries(&"orders".parse().unwrap()), 1).await.duplicates, 1);

    let (url, prefix) = (shared_redis().unwrap().url(), unique());
    let both = format!("{url}?prefix={prefix}&call_timeout=9s&remember=3d");
    let (store, queues) = (storagebox_redis::RedisStore::connect(&both).unwrap(), RedisQueues::connect(&both).unwrap());
    store.setup().await.unwrap();
    queues.setup(&"orders".parse().unwrap()).await.unwrap();
    let mut keys = cmd("KEYS");
    let keys: Vec<String> = keys.arg(format!("{prefix}*")).query_async(&mut direct(url).await).await.unwrap();
    assert!(keys.contains(&format!("{prefix}:orders")), "{keys:?}");
}

#[test]
fn invalid_url_gets_the_same_error_as_from_the_store() {
    for end in [
        "?surprise=hunter2",
        "?call_timeout=hunter2",
        "#hunter2",
        "?prefix={hunter2}",
        "?wait=hunter2",
        ":port",
        "?tls_ca_cert_file=/none",
    ] {
        let url = format!("redis://ann:hunter2@127.0.0.1{end}");
        let (store, queues) =
            (storagebox_redis::RedisStore::connect(&url).unwrap_err(), RedisQueues::connect(&url).unwrap_err());
        assert_eq!((queues.kind(), queues.to_string()), (ErrorKind::Misconfigured, store.to_string()), "{end}");
        assert!(!format!("{queues} {queues:?}").contains("hunter2"));
    }
    for end in
        ["?surprise=hunter2", "?schema=hunter2-", "#hunter2", "?sslmode=hunter2", ",other/db", "?max_connections=0"]
    {
        let url = format!("postgres://ann:hunter2@127.0.0.1{end}");
        let store = storagebox_postgres::PostgresStore::connect(&url).unwrap_err();
        let queues = PostgresQueues::connect(&url).unwrap_err();
        assert_eq!((queues.kind(), queues.to_string()), (ErrorKind::Misconfigured, store.to_string()), "{end}");
        assert!(!format!("{queues} {queues:?}").contains("hunter2"));
    }
    let simple = PostgresQueues::connect("postgres://127.0.0.1/db?statements=simple").unwrap_err();
    let cluster = RedisQueues::connect("redis+cluster://127.0.0.1").unwrap_err();
    assert_eq!((simple.kind(), cluster.kind()), (ErrorKind::Unsupported, ErrorKind::Unsupported));
}

#[tokio::test]
async fn missing_nats_consumer_or_stream_is_created_with_a_warning() {
    let server = Nats::start().unwrap();
    let raw = jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let (queues, queue) = (NatsQueues::connect(&server.url()).await.unwrap(), NatsQueue::new("orders"));
    // The stream of the notes is also missing after an upgrade from an earlier version.
    for removed in [None, Some("orders"), Some("orders-runs")] {
        let (said, _here) = Said::here(LevelFilter::INFO);
        queues.setup(&queue).await.unwrap();
        match removed {
            None => drop(raw.delete_consumer_from_stream("orders", "orders").await.unwrap()),
            Some(stream) => drop(raw.delete_stream(stream).await.unwrap()),
        }
        let send = async {
            while said.lines("created again").is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            queues.dispatch(&[message("orders")]).await.unwrap();
        };
        let (consumed, ()) = tokio::join!(worker(queues.deliveries(&queue), 1), send);
        assert_eq!((consumed.duplicates, consumed.error.is_none()), (1, true));
    }
}

/// Starts a server with a queue, and with a user who may not publish on `denied`. Returns connections of a user with
/// all rights and of this user.
async fn without(denied: &str, queue: &NatsQueue) -> (Nats, async_nats::Client, NatsQueues) {
    let deny = format!("permissions: {{ publish: {{ deny: [\"{denied}\"] }} }}");
    let users = format!("{{ user: root, password: hunter2 }}, {{ user: ann, password: hunter2, {deny} }}");
    let server = Nats::start_with(format!("authorization {{ users: [ {users} ] }}")).unwrap();
    let root = async_nats::ConnectOptions::with_user_and_password("root".into(), "hunter2".into());
    let root = root.connect(server.url()).await.unwrap();
    NatsQueues::from_client(root.clone()).setup(queue).await.unwrap();
    let ann = server.url().replace("nats://", "nats://ann:hunter2@");
    let ann = NatsQueues::connect(&ann).await.unwrap().timeout(Duration::from_secs(1));
    (server, root, ann)
}

#[tokio::test]
async fn loop_ends_if_the_nats_user_lacks_a_right() {
    let queue = NatsQueue::new("orders");
    let (_server, _, queues) = without("$JS.API.CONSUMER.INFO.>", &queue).await;
    let (said, _here) = Said::here(LevelFilter::INFO);
    assert_ended(&worker(queues.deliveries(&queue), 1).await, &said, ErrorKind::Denied);
}

#[tokio::test]
async fn loop_ends_if_the_nats_user_may_not_acknowledge() {
    let queue = NatsQueue::new("orders");
    let (_server, _, queues) = without("$JS.ACK.>", &queue).await;
    queues.dispatch(&[message("orders")]).await.unwrap();
    let (said, _here) = Said::here(LevelFilter::INFO);
    let consumed = worker(queues.deliveries(&queue), 1).await;
    assert_eq!((consumed.duplicates, consumed.failed_settles), (1, 1));
    assert_eq!(consumed.error.map(|error| error.kind()), Some(ErrorKind::Denied));
    assert!(said.text().contains("the worker stops"), "{}", said.text());
}

/// The user may not delete the note on a finished message, which a worker tolerates.
#[tokio::test]
async fn tolerated_refusal_of_nats_does_not_explain_a_later_error() {
    let queue = NatsQueue::new("orders");
    let (_server, root, queues) = without("$JS.API.STREAM.PURGE.>", &queue).await;
    queues.dispatch(&[message("orders")]).await.unwrap();
    let mut deliveries = queues.deliveries(&queue).boxed();
    for settle in [Settle::Retry { after: Duration::ZERO }, Settle::Ack] {
        deliveries.next().await.unwrap().unwrap().settle(settle).await.unwrap();
    }
    jetstream::new(root).delete_consumer_from_stream("orders", "orders").await.unwrap();
    let error = deliveries.next().await.unwrap().unwrap_err();
    assert_eq!(error.downcast_ref().map(storagebox_core::Error::kind), Some(ErrorKind::Unavailable), "{error}");
}
