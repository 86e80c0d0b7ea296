//! Queues in a schema of a PostgreSQL database.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod checks;
mod leases;
mod lives;

use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool, raw_sql};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Destination, Dispatcher, async_trait};
use storagebox_testkit::postgres::{Postgres, Settings};
use storagebox_testkit::servers::shared_postgres;
use storagebox_transports::{PostgresDelivery, PostgresQueues, consume};

use checks::endpoint::{Endpoint, Seen, entity_of, options};
use checks::{Deliveries, NAME, Queue};
use leases::{Aged, LEASE};
use lives::Shared;

/// The arguments that acknowledge the first message of a new schema, as bytes: its number and its receipt, both 1.
const FIRST_ACK: &[u8] = b"\0\x02\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x01";

/// A queue whose client is connected through a proxy, and a pool that is connected directly.
struct Table {
    queues: PostgresQueues,
    proxy: Proxy,
    direct: PgPool,
    schema: String,
}

impl Table {
    async fn on(url: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let schema = format!("queues_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let server = url.rsplit('@').next().unwrap().split(['/', '?']).next().unwrap();
        let proxy = Proxy::start(server.to_socket_addrs().unwrap().next().unwrap()).await.unwrap();
        let behind = url.replace(server, &proxy.addr().to_string());
        let queues = PostgresQueues::connect(&behind).unwrap().schema(&schema).unwrap().lease(LEASE).unwrap();
        queues.setup().await.unwrap();
        let direct = PgPoolOptions::new().max_connections(2).connect(url).await.unwrap();
        Self { queues, proxy, direct, schema }
    }

    async fn run(&self, sql: &str) {
        raw_sql(AssertSqlSafe(sql.replace("{schema}", &self.schema))).execute(&self.direct).await.unwrap();
    }

    async fn count(&self, condition: &str) -> usize {
        let sql = format!("SELECT count(*) FROM {}.messages WHERE queue = '{NAME}' AND {condition}", self.schema);
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&self.direct).await.unwrap();
        count.try_into().unwrap()
    }
}

fn name() -> Destination {
    NAME.parse().unwrap()
}

async fn fresh() -> Table {
    Table::on(shared_postgres().unwrap().url()).await
}

#[async_trait]
impl Queue for Table {
    type Delivery = PostgresDelivery;

    const LEASE: Duration = LEASE;

    fn deliveries(&self) -> Deliveries<PostgresDelivery> {
        self.queues.deliveries(&name()).boxed()
    }

    fn dispatcher(&self) -> impl Dispatcher + 'static {
        self.queues.clone()
    }

    async fn send_malformed(&self) {
        self.run("INSERT INTO {schema}.messages (queue, token) VALUES ('orders', 'x')").await;
    }

    async fn lapse(&self) {
        self.age(LEASE).await;
    }

    async fn length(&self) -> usize {
        self.count("parked_at IS NULL").await
    }

    async fn parked(&self) -> usize {
        self.queues.parked(&name()).await.unwrap().try_into().unwrap()
    }

    async fn holds(&self, length: usize, parked: usize) {
        let found = (self.length().await, self.parked().await, self.count("parked_at IS NOT NULL").await);
        assert_eq!(found, (length, parked, parked));
    }

    async fn redrive(&self) {
        self.queues.redrive(&name(), u32::MAX).await.unwrap();
    }

    fn cut_next_ack(&self, cut: Cut) {
        self.proxy.arm(cut, FIRST_ACK, 0);
    }

    async fn was_cut(&self) {
        self.proxy.wait_for_cuts(1).await;
    }
}

#[async_trait]
impl Aged for Table {
    async fn age(&self, by: Duration) {
        let by = by.as_micros();
        self.run(&format!("UPDATE {{schema}}.messages SET visible_at = visible_at - {by} * interval '1 us'")).await;
    }
}

checks!(fresh);
checks!(fresh, checks::cases: acknowledgement_with_a_lost_answer_takes_effect);
leases!(fresh);
lives!(Table, fresh);

#[async_trait]
impl Shared for Table {
    fn place(&self) -> [&str; 2] {
        [shared_postgres().unwrap().url(), &self.schema]
    }

    async fn open([url, schema]: [&str; 2]) -> Deliveries<PostgresDelivery> {
        let queues = PostgresQueues::connect(url).unwrap().schema(schema).unwrap();
        queues.lease(LEASE).unwrap().deliveries(&name()).boxed()
    }
}

#[tokio::test]
async fn concurrent_and_repeated_setups_succeed() {
    let queue = fresh().await;
    queue.run("DROP SCHEMA {schema} CASCADE").await;
    let error = queue.deliveries().next().await.unwrap().unwrap_err().to_string();
    assert!(error.contains("not set up"), "{error}");
    for setup in futures_util::future::join_all((0..4).map(|_| queue.queues.setup())).await {
        setup.unwrap();
    }
    queue.queues.setup().await.unwrap();
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    assert_eq!(endpoint.consume(&queue, 1).await.0.processed, 1);
}

#[tokio::test]
async fn setup_upgrades_an_earlier_table_and_keeps_its_messages() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    queue.run("ALTER TABLE {schema}.messages DROP COLUMN lone_runs").await;
    assert!(queue.deliveries().next().await.unwrap().is_err());
    queue.queues.setup().await.unwrap();
    assert_eq!(endpoint.consume(&queue, 1).await.0.processed, 1);
}

#[tokio::test]
async fn queues_of_one_table_do_not_see_each_other() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.processor.issue("a", [("others", "entity"), (NAME, "entity")]).await.unwrap();
    assert_eq!(endpoint.consume(&queue, 1).await.1, ["a-1: Processed { sent: 0 }"]);
    assert_eq!((queue.length().await, queue.queues.parked(&name()).await.unwrap()), (0, 0));
    assert_eq!(queue.queues.redrive(&"others".parse().unwrap(), 9).await.unwrap(), 0);
}

#[tokio::test]
async fn debug_output_and_errors_hide_the_password() {
    let queues = PostgresQueues::connect("postgres://ann:secret@127.0.0.1:1/x").unwrap();
    assert!(!format!("{queues:?}").contains("secret"));
    let error = PostgresQueues::connect("http://ann:secret@[::1/x").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[tokio::test]
async fn loop_continues_without_loss_after_a_server_restart() {
    let server = Postgres::start(&Settings::durable()).unwrap();
    let queue = Table::on(&server.url()).await;
    let endpoint = Endpoint::held(&queue);
    endpoint.send("a", "entity").await;
    let seen = Seen::default();
    let options = options::<Table>().observe(seen.observer()).until(seen.clone().has(2));
    let consuming = consume(queue.deliveries(), entity_of, &endpoint.processor, options);
    let test = async {
        endpoint.handler.has_begun(1).await;
        server.kill().unwrap();
        endpoint.handler.let_pass(9);
        seen.clone().has(1).await;
        server.start_again().unwrap();
        queue.age(LEASE).await;
    };
    let (consumed, ()) = tokio::join!(consuming, test);
    assert_eq!((consumed.processed, consumed.duplicates, consumed.failed_settles), (1, 1, 1), "{consumed:?}");
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}
