//! Queues in streams of a Redis server.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod checks;
mod leases;
mod lives;

use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::MultiplexedConnection;
use redis::cmd;
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Destination, Dispatcher, async_trait};
use storagebox_testkit::redis::{Redis, Settings};
use storagebox_testkit::servers::shared_redis;
use storagebox_transports::{Delivery, RedisDelivery, RedisQueues, Settle, consume};

use checks::endpoint::{Endpoint, Seen, entity_of, options};
use checks::{Deliveries, NAME, Queue};
use leases::{Aged, LEASE};
use lives::Shared;

/// A queue whose client is connected through a proxy, and a direct connection to the server.
struct Stream {
    queues: RedisQueues,
    proxy: Proxy,
    direct: MultiplexedConnection,
    prefix: String,
}

impl Stream {
    async fn on(url: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let prefix = format!("{}-{}:", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let address = url.trim_start_matches("redis://").to_socket_addrs().unwrap().next().unwrap();
        let proxy = Proxy::start(address).await.unwrap();
        let queues = RedisQueues::connect(&format!("redis://{}", proxy.addr())).unwrap();
        let queues = queues.prefix(&prefix).lease(LEASE).unwrap();
        queues.setup(&name()).await.unwrap();
        let direct = connected(url).await;
        Self { queues, proxy, direct, prefix }
    }

    fn key(&self, end: &str) -> String {
        format!("{}{NAME}{end}", self.prefix)
    }

    async fn length_of(&self, end: &str) -> usize {
        cmd("XLEN").arg(self.key(end)).query_async(&mut self.direct.clone()).await.unwrap()
    }
}

async fn connected(url: &str) -> MultiplexedConnection {
    redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

fn name() -> Destination {
    NAME.parse().unwrap()
}

async fn fresh() -> Stream {
    Stream::on(shared_redis().unwrap().url()).await
}

/// Returns a queue on a server that knows the script of an acknowledgement, and so executes its next call at once.
async fn after_an_acknowledgement() -> Stream {
    let another = fresh().await;
    Endpoint::new(&another).send("a", "entity").await;
    checks::cases::ack(checks::take(&another).await).await;
    fresh().await
}

#[async_trait]
impl Queue for Stream {
    type Delivery = RedisDelivery;

    const LEASE: Duration = LEASE;

    fn deliveries(&self) -> Deliveries<RedisDelivery> {
        self.queues.deliveries(&name()).boxed()
    }

    fn dispatcher(&self) -> impl Dispatcher + 'static {
        self.queues.clone()
    }

    async fn send_malformed(&self) {
        let mut add = cmd("XADD");
        add.arg(self.key("")).arg("*").arg("id").arg("x").arg("token").arg("y").arg("other").arg("z");
        add.query_async::<()>(&mut self.direct.clone()).await.unwrap();
    }

    async fn lapse(&self) {
        self.age(LEASE).await;
    }

    async fn length(&self) -> usize {
        self.length_of("").await
    }

    async fn parked(&self) -> usize {
        self.queues.parked(&name()).await.unwrap().try_into().unwrap()
    }

    async fn holds(&self, length: usize, parked: usize) {
        let found = (self.length().await, self.parked().await, self.length_of(":parked").await);
        assert_eq!(found, (length, parked, parked));
    }

    async fn redrive(&self) {
        self.queues.redrive(&name(), u32::MAX).await.unwrap();
    }

    fn cut_next_ack(&self, cut: Cut) {
        self.proxy.arm(cut, b"$3\r\nack\r\n", 0);
    }

    async fn was_cut(&self) {
        self.proxy.wait_for_cuts(1).await;
    }
}

#[async_trait]
impl Aged for Stream {
    async fn age(&self, by: Duration) {
        let (by, mut direct) = (i64::try_from(by.as_millis()).unwrap(), self.direct.clone());
        let (stream, pauses) = (self.key(""), self.key(":pauses"));
        let mut pending = cmd("XPENDING");
        pending.arg(&stream).arg("storagebox").arg("-").arg("+").arg(1000);
        let pending: Vec<(String, String, i64, i64)> = pending.query_async(&mut direct).await.unwrap();
        for (entry, consumer, idle, _) in pending {
            let mut older = cmd("XCLAIM");
            older.arg(&stream).arg("storagebox").arg(consumer).arg(0).arg(entry);
            older.arg("IDLE").arg(idle + by).arg("JUSTID").query_async::<()>(&mut direct).await.unwrap();
        }
        let paused: Vec<String> = cmd("ZRANGE").arg(&pauses).arg(0).arg(-1).query_async(&mut direct).await.unwrap();
        for entry in paused {
            let mut older = cmd("ZINCRBY");
            older.arg(&pauses).arg(-by).arg(entry).query_async::<()>(&mut direct).await.unwrap();
        }
    }
}

checks!(fresh);
checks!(after_an_acknowledgement, checks::cases: acknowledgement_with_a_lost_answer_takes_effect);
leases!(fresh);
lives!(Stream, fresh);

#[async_trait]
impl Shared for Stream {
    fn place(&self) -> [&str; 2] {
        [shared_redis().unwrap().url(), &self.prefix]
    }

    async fn open([url, prefix]: [&str; 2]) -> Deliveries<RedisDelivery> {
        RedisQueues::connect(url).unwrap().prefix(prefix).lease(LEASE).unwrap().deliveries(&name()).boxed()
    }
}

#[tokio::test]
async fn repeated_setup_keeps_earlier_messages() {
    let queue = fresh().await;
    cmd("DEL").arg(queue.key("")).query_async::<()>(&mut queue.direct.clone()).await.unwrap();
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    for _ in 0..2 {
        queue.queues.setup(&name()).await.unwrap();
    }
    assert_eq!(endpoint.consume(&queue, 1).await.0.processed, 1);
}

/// The new group delivers all messages, including a message that a worker had received from the lost group.
#[tokio::test]
async fn missing_group_is_created_again() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let mut deliveries = queue.deliveries();
    let first = checks::next(&mut deliveries).await;
    let mut destroy = cmd("XGROUP");
    destroy.arg("DESTROY").arg(queue.key("")).arg("storagebox");
    destroy.query_async::<()>(&mut queue.direct.clone()).await.unwrap();
    drop(first);
    assert_eq!(endpoint.consume_from(deliveries, 2, options::<Stream>()).await.0.processed, 2);
    queue.holds(0, 0).await;
}

#[tokio::test]
async fn finished_message_leaves_nothing_behind() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    let first = checks::take(&queue).await;
    first.settle(Settle::Retry { after: LEASE }).await.unwrap();
    queue.age(LEASE).await;
    for runs in [None, Some(0), Some(1)] {
        let ended = checks::take(&queue).await;
        assert_eq!(ended.lapsed(), runs);
        if runs.is_some() {
            ended.begin_alone().await.unwrap();
        }
        queue.age(LEASE).await;
    }
    assert_eq!(endpoint.consume(&queue, 1).await.0.processed, 1);
    let mut keys = cmd("KEYS");
    let keys: Vec<String> =
        keys.arg(format!("{}*", queue.prefix)).query_async(&mut queue.direct.clone()).await.unwrap();
    assert_eq!(keys, [queue.key("")]);
    let mut pending = cmd("XPENDING");
    pending.arg(queue.key("")).arg("storagebox").arg("-").arg("+").arg(1);
    assert!(pending.query_async::<Vec<redis::Value>>(&mut queue.direct.clone()).await.unwrap().is_empty());
}

/// More messages pause than one search reads, and they are older than the message whose lease ended.
#[tokio::test]
async fn pausing_messages_do_not_hide_an_ended_lease() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    let mut deliveries = queue.deliveries();
    for count in 0..250 {
        endpoint.send(&format!("paused-{count}"), "entity").await;
        checks::next(&mut deliveries).await.settle(Settle::Retry { after: 10 * LEASE }).await.unwrap();
    }
    endpoint.send("lapsed", "entity").await;
    drop(checks::next(&mut deliveries).await);
    queue.age(LEASE).await;
    assert!(next_ids(&queue, &endpoint, 3).await.contains(&"lapsed-0".to_owned()));
}

#[tokio::test]
async fn pauses_that_are_over_do_not_hold_up_other_messages() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    let mut deliveries = queue.deliveries();
    let mut taken = vec![];
    for op in ["lapsed", "a", "b", "c", "d", "e", "f"] {
        endpoint.send(op, "entity").await;
        taken.push(checks::next(&mut deliveries).await);
    }
    for failed in &taken[1..] {
        failed.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    }
    queue.age(LEASE).await;
    let ids = next_ids(&queue, &endpoint, 4).await;
    assert_eq!(
        ["lapsed", "new", "paused"].map(|kind| ids.iter().filter(|id| is(kind, id)).count()),
        [1, 2, 1],
        "{ids:?}"
    );
}

fn is(kind: &str, id: &str) -> bool {
    let of = ["lapsed", "new"].into_iter().find(|kind| id.starts_with(kind));
    of.unwrap_or("paused") == kind
}

/// Sends `count` new messages. Returns the ids of the next `count` messages that a new stream delivers.
async fn next_ids(queue: &Stream, endpoint: &Endpoint, count: usize) -> Vec<String> {
    for number in 0..count {
        endpoint.send(&format!("new-{number}"), "entity").await;
    }
    let (mut deliveries, mut ids) = (queue.deliveries(), vec![]);
    for _ in 0..count {
        ids.push(checks::id(&checks::next(&mut deliveries).await));
    }
    ids
}

/// The entry has more fields than a Lua script can pass to one command.
#[tokio::test]
async fn an_entry_of_many_fields_can_be_parked_and_sent_again() {
    let queue = fresh().await;
    let mut add = cmd("XADD");
    add.arg(queue.key("")).arg("*");
    for field in 0..5_000 {
        add.arg(field).arg("value");
    }
    add.query_async::<String>(&mut queue.direct.clone()).await.unwrap();
    for _ in 0..2 {
        let foreign = checks::take(&queue).await;
        assert!(foreign.received().is_err());
        foreign.settle(Settle::Park).await.unwrap();
        queue.holds(0, 1).await;
        queue.redrive().await;
    }
}

/// Creates a user. Returns a client with the login of the user, and a function that changes the rights of the user.
async fn by_a_user(queue: &Stream) -> (RedisQueues, impl AsyncFn(&str)) {
    let user = queue.prefix.trim_end_matches(':').to_owned();
    let url = shared_redis().unwrap().url().replace("redis://", &format!("redis://{user}:hunter2@"));
    let queues = RedisQueues::connect(&url).unwrap().prefix(&queue.prefix).lease(LEASE).unwrap();
    let direct = queue.direct.clone();
    let change = async move |right: &str| {
        let mut set = cmd("ACL");
        set.arg("SETUSER").arg(&user).arg("on").arg(">hunter2").arg("~*").arg(right);
        set.query_async::<()>(&mut direct.clone()).await.unwrap();
    };
    change("+@all").await;
    (queues, change)
}

/// The user lacks the right to one command of a script, so the script changes nothing.
#[tokio::test]
async fn queue_does_not_change_if_the_user_lacks_a_right() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    let (queues, change) = by_a_user(&queue).await;
    for right in ["xadd", "xack", "xdel", "hdel"] {
        let taken = checks::next(&mut queues.deliveries(&name()).boxed()).await;
        change(&format!("-{right}")).await;
        let refused = taken.settle(Settle::Park).await.unwrap_err();
        let refused = refused.downcast_ref::<storagebox_core::Error>().unwrap();
        let (denied, surely) = (storagebox_core::ErrorKind::Denied, storagebox_core::Certainty::NotApplied);
        assert_eq!((refused.kind(), refused.certainty()), (denied, surely), "{right}: {refused}");
        queue.holds(1, 0).await;
        change(&format!("+{right}")).await;
        queue.age(LEASE).await;
    }
    let taken = checks::next(&mut queues.deliveries(&name()).boxed()).await;
    taken.settle(Settle::Park).await.unwrap();
    queue.holds(0, 1).await;
    change("-xdel").await;
    let refused = queues.redrive(&name(), 1).await.unwrap_err();
    assert!(refused.to_string().contains("right"), "{refused}");
    queue.holds(0, 1).await;
    change("+xdel").await;
    queues.redrive(&name(), 1).await.unwrap();
    queue.holds(1, 0).await;
}

#[tokio::test]
async fn deleted_entry_is_skipped() {
    let queue = fresh().await;
    let endpoint = Endpoint::new(&queue);
    endpoint.send("a", "entity").await;
    let lost = checks::take(&queue).await;
    let mut trim = cmd("XTRIM");
    trim.arg(queue.key("")).arg("MAXLEN").arg(0).query_async::<()>(&mut queue.direct.clone()).await.unwrap();
    queue.age(LEASE).await;
    endpoint.send("b", "entity").await;
    assert_eq!(endpoint.consume(&queue, 1).await.1, ["b-0: Processed { sent: 0 }"]);
    assert!(lost.extend(LEASE).await.is_err());
}

#[tokio::test]
async fn loop_continues_without_loss_after_a_server_restart() {
    let server = Redis::start(&Settings::durable()).unwrap();
    let mut queue = Stream::on(&server.url()).await;
    let endpoint = Endpoint::held(&queue);
    endpoint.send("a", "entity").await;
    let seen = Seen::default();
    let options = options::<Stream>().observe(seen.observer()).until(seen.clone().has(2));
    let consuming = consume(queue.deliveries(), entity_of, &endpoint.processor, options);
    let test = async {
        endpoint.handler.has_begun(1).await;
        server.kill().unwrap();
        endpoint.handler.let_pass(9);
        seen.clone().has(1).await;
        server.start_again().unwrap();
        queue.direct = connected(&server.url()).await;
        queue.age(LEASE).await;
    };
    let (consumed, ()) = tokio::join!(consuming, test);
    assert_eq!((consumed.processed, consumed.duplicates, consumed.failed_settles), (1, 1, 1), "{consumed:?}");
    assert!(consumed.stream_errors > 0, "{consumed:?}");
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}
