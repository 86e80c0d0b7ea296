//! The adapter of RabbitMQ, on a real broker.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may fail where a library must not")]

mod checks;
mod lives;

use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use lapin::options::{BasicPublishOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Destination, Dispatcher, ErrorKind, MAX_PAYLOAD_BYTES, Outgoing, async_trait};
use storagebox_testkit::rabbitmq::RabbitMq;
use storagebox_testkit::servers;
use storagebox_transports::{Delivery, RabbitDelivery, RabbitQueue, RabbitQueues, Settle};

use checks::{Queue, id, next};
use lives::Shared;

type Deliveries = checks::Deliveries<RabbitDelivery>;

/// A pause or lease that does not end during a test.
const LONG: Duration = Duration::from_secs(600);
/// A pause that ends while a test waits.
const SHORT: Duration = Duration::from_millis(300);

/// A new queue on the shared broker, and clients of that broker.
struct Bench {
    connection: RabbitQueues,
    raw: Channel,
    queue: RabbitQueue,
    name: String,
}

impl Bench {
    async fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("q{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        Self::at_queue(servers::shared_rabbitmq().unwrap().url(), &name).await
    }

    async fn at_queue(url: &str, name: &str) -> Self {
        let name = name.to_owned();
        let raw = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        let raw = raw.create_channel().await.unwrap();
        let connection = RabbitQueues::connect(url).await.unwrap();
        let queue = RabbitQueue::new(&name).pauses([SHORT, LONG]);
        connection.setup(&queue).await.unwrap();
        Self { connection, raw, queue, name }
    }

    fn outgoing(&self, id: &str, body: impl Into<Vec<u8>>) -> Outgoing {
        Outgoing {
            id: id.try_into().unwrap(),
            token: format!("token of {id}").try_into().unwrap(),
            destination: self.name.as_str().try_into().unwrap(),
            body: body.into().try_into().unwrap(),
        }
    }

    async fn send(&self, id: &str) {
        self.connection.dispatch(&[self.outgoing(id, "body")]).await.unwrap();
    }

    /// Sends a message like a sender that does not use storagebox.
    async fn send_raw(&self, properties: BasicProperties) {
        let options = BasicPublishOptions::default();
        let sent = self.raw.basic_publish("".into(), self.name.as_str().into(), options, b"body", properties);
        sent.await.unwrap().await.unwrap();
    }

    fn deliveries(&self) -> Deliveries {
        self.connection.deliveries(&self.queue).boxed()
    }

    /// Returns how many messages of a queue have not been received by a worker.
    async fn held(&self, queue: &str) -> u32 {
        let options = QueueDeclareOptions::durable().passive();
        self.raw.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap().message_count()
    }

    /// Waits until `count` messages are parked.
    async fn parked(&self, count: u32) {
        // The broker's counts lag behind.
        while self.held(&format!("{}.parked", self.name)).await != count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends a message, which must be the next delivery of the queue.
    async fn holds_nothing(&self, deliveries: &mut Deliveries) {
        self.send("the only one").await;
        let delivery = next(deliveries).await;
        assert_eq!(id(&delivery), "the only one");
        delivery.settle(Settle::Ack).await.unwrap();
    }
}

fn named(id: &str) -> BasicProperties {
    BasicProperties::default().with_message_id(id.into())
}

fn with_header(properties: BasicProperties, name: &str, value: AMQPValue) -> BasicProperties {
    let mut headers = FieldTable::default();
    headers.insert(name.into(), value);
    properties.with_headers(headers)
}

/// A new queue, and a client that is connected through a proxy.
struct Behind {
    bench: Bench,
    queues: RabbitQueues,
    proxy: Proxy,
}

async fn fresh() -> Behind {
    let (bench, url) = (Bench::new().await, servers::shared_rabbitmq().unwrap().url());
    let server = url.trim_start_matches("amqp://").rsplit('@').next().unwrap();
    let proxy = Proxy::start(server.to_socket_addrs().unwrap().next().unwrap()).await.unwrap();
    let queues = RabbitQueues::connect(&url.replace(server, &proxy.addr().to_string())).await.unwrap();
    Behind { bench, queues, proxy }
}

#[async_trait]
impl Queue for Behind {
    type Delivery = RabbitDelivery;

    /// A lease that does not end during a case, because a message belongs to its worker while the channel is open.
    const LEASE: Duration = LONG;

    const CONFIRMS: bool = false;

    fn name(&self) -> Destination {
        self.bench.name.parse().unwrap()
    }

    fn deliveries(&self) -> Deliveries {
        self.queues.deliveries(&self.bench.queue).boxed()
    }

    fn dispatcher(&self) -> impl Dispatcher + 'static {
        self.queues.clone()
    }

    async fn send_malformed(&self) {
        self.bench.send_raw(named("")).await;
    }

    /// Returns the number of copies that are neither finished nor parked, and that no worker has received.
    async fn length(&self) -> usize {
        let (name, alone) = (&self.bench.name, format!("{}.alone", self.bench.name));
        (self.bench.held(name).await + self.bench.held(&alone).await).try_into().unwrap()
    }

    async fn parked(&self) -> usize {
        self.bench.held(&format!("{}.parked", self.bench.name)).await.try_into().unwrap()
    }

    /// Waits until `length` and `parked` return these numbers.
    async fn holds(&self, length: usize, parked: usize) {
        // The broker's counts lag behind, and a channel closes some time after its worker.
        let mut found = (0, 0);
        for _ in 0..500 {
            found = (self.length().await, self.parked().await);
            if found == (length, parked) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(found, (length, parked));
    }

    async fn redrive(&self) {
        self.queues.redrive(&self.bench.queue).await.unwrap();
    }

    /// Makes the proxy cut the connection at the next acknowledgement.
    fn cut_next_ack(&self, cut: Cut) {
        self.proxy.arm(cut, [0, 60, 0, 80], 0);
    }

    async fn was_cut(&self) {
        self.proxy.wait_for_cuts(1).await;
    }
}

checks!(fresh, [ignore = "its broker takes a minute to start: cargo xtask prove transports"]);
lives!(Behind, fresh, [ignore = "its broker takes a minute to start: cargo xtask prove transports"]);

#[async_trait]
impl Shared for Behind {
    fn place(&self) -> [&str; 2] {
        [servers::shared_rabbitmq().unwrap().url(), &self.bench.name]
    }

    async fn open([url, name]: [&str; 2]) -> Deliveries {
        RabbitQueues::connect(url).await.unwrap().deliveries(&RabbitQueue::new(name)).boxed()
    }
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn message_arrives_with_its_id_and_token_and_body() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    let largest = vec![7; MAX_PAYLOAD_BYTES];
    let ids = ["order-7", " 50% of\r\nété ", &"x".repeat(500)];
    let messages = ids.map(|id| bench.outgoing(id, largest.clone()));
    bench.connection.dispatch(&messages).await.unwrap();
    for message in messages {
        let delivery = next(&mut deliveries).await;
        let received = delivery.received().unwrap();
        assert_eq!((&received.id, received.token.as_ref()), (&message.id, Some(&message.token)));
        assert_eq!((received.body.as_bytes() == largest, delivery.attempt()), (true, 1));
        delivery.extend(LONG).await.unwrap();
        delivery.settle(Settle::Ack).await.unwrap();
    }
    bench.holds_nothing(&mut deliveries).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn message_of_a_foreign_sender_has_no_token() {
    let bench = Bench::new().await;
    bench.send_raw(named("order-7")).await;
    let delivery = next(&mut bench.deliveries()).await;
    let received = delivery.received().unwrap();
    assert_eq!((received.id.as_str(), received.token.as_ref()), ("order-7", None));
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn dropped_delivery_is_delivered_again() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    drop(next(&mut deliveries).await);
    let delivery = next(&mut deliveries).await;
    assert_eq!((id(&delivery).as_str(), delivery.attempt()), ("order-7", 2));
    delivery.settle(Settle::Ack).await.unwrap();
    bench.holds_nothing(&mut deliveries).await;
}

/// The stream is dropped while one delivery is in progress and another delivery has been fetched.
#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn deliveries_of_a_dropped_stream_go_to_another_stream() {
    let bench = Bench::new().await;
    let mut first = bench.deliveries();
    bench.send("one").await;
    bench.send("two").await;
    let one = next(&mut first).await;
    drop(first);
    let mut second = bench.deliveries();
    let two = next(&mut second).await;
    assert_eq!(id(&two), "two");
    for delivery in [one, two] {
        delivery.settle(Settle::Ack).await.unwrap();
    }
    bench.holds_nothing(&mut second).await;
}

/// The broker closes the channel of a worker that holds a message for longer than its `consumer_timeout`.
#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn message_that_is_held_too_long_comes_again() {
    let server = RabbitMq::start_with("{consumer_timeout, 1000}, {channel_tick_interval, 500}").unwrap();
    let bench = Bench::at_queue(&server.url(), "orders").await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    let held = next(&mut deliveries).await;
    let error = deliveries.next().await.unwrap().unwrap_err();
    let kind = error.downcast_ref().map(storagebox_core::Error::kind);
    assert_eq!(kind, Some(ErrorKind::OutcomeUnknown), "{error}: {:?}", error.source());
    assert!(held.settle(Settle::Ack).await.is_err());
    assert_eq!(id(&next(&mut deliveries).await), "order-7");
}

/// The copy for the queue of messages that run alone is lost on its way to the broker.
#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn message_that_cannot_be_set_apart_is_kept() {
    let queue = fresh().await;
    let mut deliveries = queue.deliveries();
    queue.bench.send("order-7").await;
    drop(next(&mut deliveries).await);
    queue.bench.send("order-8").await;
    // The class and the method of `basic.publish`.
    queue.proxy.arm(Cut::RequestLost, [0, 60, 0, 40], 0);
    let (mut seen, mut errors) = (vec![], 0);
    while seen.len() < 2 {
        match deliveries.next().await.unwrap() {
            Ok(delivery) => {
                seen.push((id(&delivery), delivery.attempt(), delivery.lapsed()));
                delivery.settle(Settle::Ack).await.unwrap();
            }
            Err(_) => errors += 1,
        }
    }
    seen.sort();
    assert_eq!(seen, [("order-7".to_owned(), 2, Some(0)), ("order-8".to_owned(), 1, None)]);
    assert!(errors > 0);
}

/// Opens a stream of deliveries. The proxy cuts off the answer of the broker to `basic.consume`.
async fn unanswered(queue: &Behind, stream: &mut Deliveries) {
    queue.bench.send("order-7").await;
    // The class and the method of `basic.consume`.
    queue.proxy.arm(Cut::NoAnswer, [0, 60, 0, 20], 0);
    tokio::select! {
        delivery = next(stream) => panic!("it came: {delivery:?}"),
        () = queue.proxy.wait_for_cuts(1) => {}
    }
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn stream_dropped_while_it_opens_keeps_no_message() {
    let queue = fresh().await;
    let mut stream = queue.deliveries();
    unanswered(&queue, &mut stream).await;
    drop(stream);
    let mut another = queue.deliveries();
    next(&mut another).await.settle(Settle::Ack).await.unwrap();
    queue.bench.holds_nothing(&mut another).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn stream_whose_opening_timed_out_gets_its_message_later() {
    let mut queue = fresh().await;
    queue.queues = queue.queues.timeout(Duration::from_secs(3));
    let mut stream = queue.deliveries();
    unanswered(&queue, &mut stream).await;
    next(&mut stream).await.settle(Settle::Ack).await.unwrap();
    queue.bench.holds_nothing(&mut stream).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn retry_is_delivered_after_its_pause_or_at_once() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    for (attempt, after) in [(1, Duration::ZERO), (2, SHORT), (3, SHORT), (4, Duration::ZERO)] {
        let delivery = next(&mut deliveries).await;
        let received = delivery.received().unwrap();
        assert_eq!((received.id.as_str(), delivery.attempt()), ("order-7", attempt));
        assert_eq!((received.token.is_some(), received.body.as_bytes()), (true, b"body".as_slice()));
        delivery.settle(Settle::Retry { after }).await.unwrap();
    }
    next(&mut deliveries).await.settle(Settle::Ack).await.unwrap();
    bench.holds_nothing(&mut deliveries).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn message_that_waits_for_its_retry_does_not_delay_others() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    for (id, after) in [("first", LONG), ("second", SHORT)] {
        bench.send(id).await;
        next(&mut deliveries).await.settle(Settle::Retry { after }).await.unwrap();
    }
    bench.send("third").await;
    let mut seen = [id(&next(&mut deliveries).await), id(&next(&mut deliveries).await)];
    seen.sort();
    assert_eq!(seen, ["second", "third"]);
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn a_parked_message_stays_until_it_is_sent_again() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    // The broker refuses a copy with another user's name, and deletes an expired copy.
    let properties = named("order-7").with_user_id("guest".into()).with_expiration("60000".into());
    bench.send_raw(with_header(properties, "other", AMQPValue::LongLongInt(7))).await;
    next(&mut deliveries).await.settle(Settle::Park).await.unwrap();
    bench.parked(1).await;
    assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 1);
    let delivery = next(&mut deliveries).await;
    assert_eq!((id(&delivery).as_str(), delivery.attempt()), ("order-7", 1));
    delivery.settle(Settle::Ack).await.unwrap();
    bench.parked(0).await;
    assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 0);
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn malformed_copy_can_be_parked() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    let long = AMQPValue::LongString("x".repeat(600).into());
    let malformed = [
        BasicProperties::default(),
        named(""),
        with_header(named("id"), "storagebox-id", long.clone()),
        with_header(named("id"), "storagebox-token", long),
        with_header(named("id"), "storagebox-token", AMQPValue::Boolean(true)),
        with_header(named("id"), "storagebox-token", AMQPValue::LongString(vec![0xff].into())),
    ];
    for properties in malformed {
        bench.send_raw(properties.clone()).await;
        let delivery = next(&mut deliveries).await;
        assert!(delivery.received().is_err(), "{properties:?}");
        delivery.settle(Settle::Park).await.unwrap();
    }
    bench.parked(6).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn delivery_that_workers_drop_too_often_is_parked() {
    let bench = Bench::new().await;
    let queue = RabbitQueue::new(format!("{}-limited", bench.name)).delivery_limit(2);
    let bench = Bench { name: format!("{}-limited", bench.name), queue, ..bench };
    bench.connection.setup(&bench.queue).await.unwrap();
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    for _ in 0..3 {
        drop(next(&mut deliveries).await);
    }
    bench.parked(1).await;
    bench.holds_nothing(&mut deliveries).await;
    assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 1);
    assert_eq!(id(&next(&mut deliveries).await), "order-7");
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn destination_without_a_queue_is_an_error() {
    let bench = Bench::new().await;
    for destination in ["nowhere at all".to_owned(), "x".repeat(300)] {
        let message = Outgoing { destination: destination.try_into().unwrap(), ..bench.outgoing("id", "body") };
        let messages = [bench.outgoing("before", "body"), message, bench.outgoing("after", "body")];
        assert!(bench.connection.dispatch(&messages).await.is_err());
        bench.send("later").await;
    }
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn messages_of_concurrent_senders_all_arrive() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    let ids: Vec<_> = (0..40).map(|count| format!("{count:02}")).collect();
    futures_util::future::join_all(ids.iter().map(|id| bench.send(id))).await;
    let mut seen = vec![];
    while seen.len() < ids.len() {
        let delivery = next(&mut deliveries).await;
        seen.push(id(&delivery));
        delivery.settle(Settle::Ack).await.unwrap();
    }
    seen.sort();
    assert_eq!(seen, ids);
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn missing_queue_is_an_error_until_setup_creates_it() {
    let bench = Bench::new().await;
    let name = format!("{}-later", bench.name);
    let queue = RabbitQueue::new(&name);
    let bench = Bench { name, queue, ..bench };
    let mut deliveries = bench.deliveries();
    assert!(deliveries.next().await.unwrap().is_err());
    bench.connection.setup(&bench.queue).await.unwrap();
    bench.connection.setup(&bench.queue).await.unwrap();
    bench.send("order-7").await;
    assert_eq!(id(&next(&mut deliveries).await), "order-7");
}

/// The broker cancels the consumers of a deleted queue.
#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn queue_that_was_deleted_and_created_again_is_still_read() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    bench.send("lost with the queue").await;
    let late = next(&mut deliveries).await;
    bench.raw.queue_delete(bench.name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    assert!(deliveries.next().await.unwrap().is_err());
    bench.connection.setup(&bench.queue).await.unwrap();
    // The settlement may fail or succeed.
    let _ = late.settle(Settle::Ack).await;
    bench.send("order-7").await;
    assert_eq!(id(&next(&mut deliveries).await), "order-7");
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn confirmed_message_survives_a_killed_broker() {
    let server = RabbitMq::start().unwrap();
    let url = server.url();
    Bench::at_queue(&url, "kept").await;
    // A killed broker may lose queues that are seconds old. A regular stop keeps them.
    server.stop().unwrap();
    server.start_again().unwrap();
    let bench = Bench::at_queue(&url, "kept").await;
    let mut deliveries = bench.deliveries();
    bench.send("in hand").await;
    bench.send("to be retried").await;
    let in_hand = next(&mut deliveries).await;
    let to_be_retried = next(&mut deliveries).await;
    for count in 0..20 {
        bench.send(&format!("waiting {count}")).await;
    }
    to_be_retried.settle(Settle::Retry { after: SHORT }).await.unwrap();
    server.kill().unwrap();
    assert!(bench.connection.dispatch(&[bench.outgoing("lost", "body")]).await.is_err());
    server.start_again().unwrap();
    assert!(deliveries.any_error().await, "the stream says that it lost its connection");
    assert!(in_hand.extend(LONG).await.is_err(), "the message is not ours any more");
    for settle in [Settle::Ack, Settle::Park, Settle::Retry { after: LONG }] {
        assert!(in_hand.settle(settle).await.is_err());
    }
    let others = (0..20).map(|count| format!("waiting {count}"));
    let mut expected: Vec<_> = others.chain(["in hand".to_owned(), "to be retried".to_owned()]).collect();
    while !expected.is_empty() {
        let delivery = next(&mut deliveries).await;
        expected.retain(|waiting| *waiting != id(&delivery));
        let _ = delivery.settle(Settle::Ack).await;
    }
    bench.send("afterwards").await;
    while id(&next(&mut deliveries).await) != "afterwards" {}
}

trait AnyError {
    /// Reads the stream up to its first error or its end, and returns whether there was an error.
    async fn any_error(&mut self) -> bool;
}

impl AnyError for Deliveries {
    async fn any_error(&mut self) -> bool {
        while let Some(delivery) = self.next().await {
            if delivery.is_err() {
                return true;
            }
        }
        false
    }
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn debug_output_and_errors_show_no_secret() {
    let bench = Bench::new().await;
    bench.send("order-7").await;
    let shown = format!("{:?} {:?}", bench.connection, next(&mut bench.deliveries()).await);
    assert!(!shown.contains("token of") && !shown.contains("127.0.0.1") && shown.contains("order-7"), "{shown}");
    let (_, host) = servers::shared_rabbitmq().unwrap().url().rsplit_once('/').unwrap();
    let refused = format!("amqp://ann:secret@{host}");
    for address in [&refused, "amqp://ann:secret@127.0.0.1:1", "amqps://ann:secret@127.0.0.1:1", "http://ann:secret@h"]
    {
        let error = RabbitQueues::connect(address).await.unwrap_err();
        let mut text = format!("{error} {error:?}");
        let mut source = error.source();
        while let Some(error) = source {
            text += &error.to_string();
            source = error.source();
        }
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn missing_rabbitmq_queue_is_created_again() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    bench.holds_nothing(&mut deliveries).await;
    bench.raw.queue_delete(bench.name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    let sends = async {
        while bench.connection.dispatch(&[bench.outgoing("after", "body")]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (delivery, ()) = tokio::join!(next(&mut deliveries), sends);
    assert_eq!(id(&delivery), "after");
    delivery.settle(Settle::Ack).await.unwrap();
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn missing_parking_and_retry_queues_are_created_again() {
    let bench = Bench::new().await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    for (end, settle) in [("retry.1000", Settle::Retry { after: Duration::from_millis(1) }), ("parked", Settle::Park)] {
        let name = format!("{}.{end}", bench.name);
        bench.raw.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
        next(&mut deliveries).await.settle(settle).await.unwrap();
    }
    bench.parked(1).await;
}

#[tokio::test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
async fn wrong_password_vhost_and_queue_have_different_error_kinds() {
    let bench = Bench::new().await;
    let url = servers::shared_rabbitmq().unwrap().url();
    let (_, place) = url.rsplit_once('@').unwrap_or(("", url.trim_start_matches("amqp://")));
    let host = place.split('/').next().unwrap();
    let kind = |error: storagebox_core::BoxError| error.downcast::<storagebox_core::Error>().unwrap().kind();
    let wrong = RabbitQueues::connect(&format!("amqp://guest:wrong@{host}")).await.unwrap_err();
    assert_eq!(kind(wrong), ErrorKind::Denied);
    let nowhere =
        RabbitQueues::connect(&format!("{}/nowhere", url.trim_end_matches("/%2f").trim_end_matches('/'))).await;
    assert_eq!(kind(nowhere.unwrap_err()), ErrorKind::NotSetUp);
    let other = bench.connection.setup(&bench.queue.clone().delivery_limit(7)).await.unwrap_err();
    assert_eq!(kind(other), ErrorKind::Corrupt);
}
