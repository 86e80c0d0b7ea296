//! The adapter of NATS, on a real server.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may fail where a library must not")]

mod checks;
mod lives;

use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::{self, Context};
use futures_util::StreamExt;
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Destination, Dispatcher, MAX_PAYLOAD_BYTES, Outgoing, async_trait};
use storagebox_testkit::nats::Nats;
use storagebox_testkit::servers;
use storagebox_transports::{Delivery, NatsDelivery, NatsQueue, NatsQueues, Settle};

use checks::{Queue, id, next};
use lives::Shared;

type Deliveries = checks::Deliveries<NatsDelivery>;

/// A lease that ends while a test waits.
const LEASE: Duration = Duration::from_secs(1);
/// A lease that does not end during a test.
const LONG: Duration = Duration::from_secs(600);

/// A new queue on the shared server, and clients of that server.
struct Bench {
    connection: NatsQueues,
    raw: Context,
    queue: NatsQueue,
    name: String,
}

impl Bench {
    async fn new(lease: Duration) -> Self {
        Self::at(servers::shared_nats().unwrap().url(), lease).await
    }

    async fn at(url: &str, lease: Duration) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("q{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let client = async_nats::connect(url).await.unwrap();
        let (connection, raw) = (NatsQueues::from_client(client.clone()), jetstream::new(client));
        let queue = NatsQueue::new(&name).lease(lease).unwrap();
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
    async fn send_raw(&self, headers: &[(&str, &str)]) {
        let mut map = HeaderMap::new();
        headers.iter().for_each(|(name, value)| map.append(*name, *value));
        self.raw.publish_with_headers(self.name.clone(), map, "body".into()).await.unwrap().await.unwrap();
    }

    fn deliveries(&self) -> Deliveries {
        self.connection.deliveries(&self.queue).boxed()
    }

    async fn held(&self, stream: &str) -> u64 {
        self.raw.get_stream(stream).await.unwrap().cached_info().state.messages
    }

    async fn waits_in_queue(&self) -> u64 {
        self.held(&self.name).await
    }

    async fn parked(&self) -> u64 {
        self.held(&format!("{}-parked", self.name)).await
    }
}

/// A new queue, and a client that is connected through a proxy.
struct Behind {
    bench: Bench,
    queues: NatsQueues,
    proxy: Proxy,
}

async fn fresh() -> Behind {
    let url = servers::shared_nats().unwrap().url();
    let server = url.trim_start_matches("nats://").to_socket_addrs().unwrap().next().unwrap();
    let proxy = Proxy::start(server).await.unwrap();
    let queues = NatsQueues::connect(&format!("nats://{}", proxy.addr())).await.unwrap();
    // With a larger prefetch, a dropped stream would hold fetched messages until their leases end.
    let mut bench = Bench::at(url, Behind::LEASE).await;
    bench.queue = bench.queue.prefetch(1);
    Behind { bench, queues, proxy }
}

#[async_trait]
impl Queue for Behind {
    type Delivery = NatsDelivery;

    /// A lease that is longer than the steps of a case, and short enough that a case can wait until the lease ends.
    const LEASE: Duration = Duration::from_secs(20);

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
        self.bench.send_raw(&[("storagebox-id", "%ff")]).await;
    }

    async fn length(&self) -> usize {
        self.bench.waits_in_queue().await.try_into().unwrap()
    }

    async fn parked(&self) -> usize {
        self.bench.parked().await.try_into().unwrap()
    }

    async fn redrive(&self) {
        self.queues.redrive(&self.bench.queue).await.unwrap();
    }

    fn cut_next_ack(&self, cut: Cut) {
        self.proxy.arm(cut, "+ACK", 0);
    }

    async fn was_cut(&self) {
        self.proxy.wait_for_cuts(1).await;
    }
}

checks!(fresh);
checks!(fresh, checks::cases: acknowledgement_with_a_lost_answer_takes_effect);
lives!(Behind, soon_again);

/// Returns a queue with a short lease, which delivers the messages of an ended worker again soon.
async fn soon_again() -> Behind {
    let bench = Bench::new(LEASE).await;
    Behind { bench, ..fresh().await }
}

#[async_trait]
impl Shared for Behind {
    const HOLDS: Duration = LEASE;

    fn place(&self) -> [&str; 2] {
        [servers::shared_nats().unwrap().url(), &self.bench.name]
    }

    async fn open([url, name]: [&str; 2]) -> Deliveries {
        let queue = NatsQueue::new(name).lease(LEASE).unwrap();
        NatsQueues::connect(url).await.unwrap().deliveries(&queue).boxed()
    }
}

/// The worker extends the lease for three times its length, and no worker gets the message again.
#[tokio::test]
async fn an_extended_lease_does_not_end() {
    const SHORT: Duration = Duration::from_secs(3);
    let bench = Bench::new(SHORT).await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    let mut held = next(&mut deliveries).await;
    let (mut begun, mut extended) = (Instant::now(), Instant::now());
    while begun.elapsed() < 3 * SHORT {
        let early = tokio::time::timeout(SHORT / 6, next(&mut deliveries)).await;
        let is_late = extended.elapsed() > SHORT / 2;
        match early {
            Ok(again) if is_late => (held, begun) = (again, Instant::now()),
            Ok(again) => panic!("{again:?} was handed out twice"),
            Err(_) => held.extend(SHORT).await.unwrap(),
        }
        extended = Instant::now();
    }
    held.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.waits_in_queue().await, 0);
}

#[tokio::test]
async fn message_arrives_with_its_id_and_token_and_body() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    let largest = vec![7; MAX_PAYLOAD_BYTES];
    let ids = ["order-7", " 50% of\r\nété ", &"x".repeat(512)];
    let messages = ids.map(|id| bench.outgoing(&id[..id.len().min(500)], largest.clone()));
    bench.connection.dispatch(&messages).await.unwrap();
    for message in messages {
        let delivery = next(&mut deliveries).await;
        let received = delivery.received().unwrap();
        assert_eq!((&received.id, received.token.as_ref()), (&message.id, Some(&message.token)));
        assert_eq!((received.body.as_bytes() == largest, delivery.attempt()), (true, 1));
        delivery.settle(Settle::Ack).await.unwrap();
    }
    assert_eq!(bench.waits_in_queue().await, 0);
}

#[tokio::test]
async fn message_of_a_foreign_sender_has_no_token() {
    let bench = Bench::new(LONG).await;
    bench.send_raw(&[("storagebox-id", "order-7")]).await;
    let delivery = next(&mut bench.deliveries()).await;
    let received = delivery.received().unwrap();
    assert_eq!((received.id.as_str(), received.token.as_ref()), ("order-7", None));
}

#[tokio::test]
async fn dropped_delivery_is_delivered_again() {
    let bench = Bench::new(LEASE).await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    drop(next(&mut deliveries).await);
    let delivery = next(&mut deliveries).await;
    assert_eq!((id(&delivery).as_str(), delivery.attempt()), ("order-7", 2));
    delivery.extend(LEASE).await.unwrap();
    delivery.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.waits_in_queue().await, 0);
}

#[tokio::test]
async fn finished_message_leaves_no_note() {
    let bench = Bench::new(LEASE).await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    next(&mut deliveries).await.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    for runs in [None, Some(0), Some(1)] {
        let delivery = next(&mut deliveries).await;
        assert_eq!(delivery.lapsed(), runs);
        if runs.is_some() {
            delivery.begin_alone().await.unwrap();
        }
    }
    assert_eq!(bench.held(&format!("{}-runs", bench.name)).await, 1);
    let last = next(&mut deliveries).await;
    assert_eq!(last.lapsed(), Some(2));
    last.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.held(&format!("{}-runs", bench.name)).await, 0);
}

/// The stream of the notes outlives the stream of the messages, whose numbers begin again.
#[tokio::test]
async fn notes_do_not_count_for_messages_of_a_new_stream() {
    let bench = Bench::new(LEASE).await;
    for runs in [Some(0), Some(0)] {
        let mut deliveries = bench.deliveries();
        bench.send("order-7").await;
        drop(next(&mut deliveries).await);
        let again = next(&mut deliveries).await;
        assert_eq!(again.lapsed(), runs);
        again.begin_alone().await.unwrap();
        bench.raw.delete_stream(&bench.name).await.unwrap();
        bench.connection.setup(&bench.queue).await.unwrap();
    }
}

#[tokio::test]
async fn retry_is_delivered_after_its_pause_or_at_once() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    for (attempt, after) in [(1, Duration::ZERO), (2, Duration::from_millis(300)), (3, Duration::ZERO)] {
        let delivery = next(&mut deliveries).await;
        assert_eq!((id(&delivery).as_str(), delivery.attempt()), ("order-7", attempt));
        delivery.settle(Settle::Retry { after }).await.unwrap();
    }
    next(&mut deliveries).await.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.waits_in_queue().await, 0);
}

#[tokio::test]
async fn message_that_waits_for_its_retry_does_not_delay_others() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    bench.send("first").await;
    next(&mut deliveries).await.settle(Settle::Retry { after: LONG }).await.unwrap();
    bench.send("second").await;
    assert_eq!(id(&next(&mut deliveries).await), "second");
}

/// The server counts messages that pause as unsettled, and by default it hands out no more than 1,000 of them.
#[tokio::test]
async fn many_messages_that_wait_for_their_retry_do_not_delay_others() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    let messages: Vec<_> = (0..1_000).map(|count| bench.outgoing(&format!("{count}"), "body")).collect();
    bench.connection.dispatch(&messages).await.unwrap();
    for _ in messages {
        next(&mut deliveries).await.settle(Settle::Retry { after: LONG }).await.unwrap();
    }
    bench.send("another").await;
    assert_eq!(id(&next(&mut deliveries).await), "another");
}

#[tokio::test]
async fn a_parked_message_stays_until_it_is_sent_again() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    // The server would drop a second message with this `Nats-Msg-Id`, and still confirm it.
    bench.send_raw(&[("storagebox-id", "order-7"), ("Nats-Msg-Id", "1"), ("other", "header")]).await;
    next(&mut deliveries).await.settle(Settle::Park).await.unwrap();
    assert_eq!((bench.waits_in_queue().await, bench.parked().await), (0, 1));
    assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 1);
    let delivery = next(&mut deliveries).await;
    assert_eq!((id(&delivery).as_str(), bench.parked().await), ("order-7", 0));
    delivery.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 0);
}

#[tokio::test]
async fn a_parked_message_goes_back_to_its_subject() {
    let bench = Bench::new(LONG).await;
    let name = format!("{}-many", bench.name);
    let queue = NatsQueue::new(&name).subjects([format!("{name}.in.*")]).consumer("worker");
    bench.connection.setup(&queue).await.unwrap();
    let message = Outgoing { destination: format!("{name}.in.b").try_into().unwrap(), ..bench.outgoing("a", "b") };
    bench.connection.dispatch(&[message]).await.unwrap();
    let mut deliveries: Deliveries = bench.connection.deliveries(&queue).boxed();
    for _ in 0..2 {
        next(&mut deliveries).await.settle(Settle::Park).await.unwrap();
        assert_eq!(bench.connection.redrive(&queue).await.unwrap(), 1);
    }
    let last = bench.raw.get_stream(&name).await.unwrap().get_raw_message(3).await.unwrap();
    assert_eq!(last.subject.as_str(), format!("{name}.in.b"));
}

#[tokio::test]
async fn malformed_copy_can_be_parked() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    let long = "x".repeat(600);
    let malformed: [&[(&str, &str)]; 5] = [
        &[],
        &[("storagebox-id", "")],
        &[("storagebox-id", &long)],
        &[("storagebox-id", "%ff")],
        &[("storagebox-id", "id"), ("storagebox-token", &long)],
    ];
    for headers in malformed {
        bench.send_raw(headers).await;
        let delivery = next(&mut deliveries).await;
        assert!(delivery.received().is_err(), "{headers:?}");
        delivery.settle(Settle::Park).await.unwrap();
    }
    assert_eq!((bench.waits_in_queue().await, bench.parked().await), (0, 5));
}

/// A message of the maximum size is parked without the header that parking adds to other messages.
#[tokio::test]
async fn the_largest_message_can_be_parked_and_sent_again() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    bench.raw.publish(bench.name.clone(), vec![b'x'; 1024 * 1024].into()).await.unwrap().await.unwrap();
    for _ in 0..2 {
        let delivery = next(&mut deliveries).await;
        assert!(delivery.received().is_err());
        delivery.settle(Settle::Park).await.unwrap();
        assert_eq!((bench.waits_in_queue().await, bench.parked().await), (0, 1));
        assert_eq!(bench.connection.redrive(&bench.queue).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn missing_stream_of_parked_messages_is_created_again() {
    let bench = Bench::new(LONG).await;
    let mut deliveries = bench.deliveries();
    bench.raw.delete_stream(format!("{}-parked", bench.name)).await.unwrap();
    bench.send("order-7").await;
    next(&mut deliveries).await.settle(Settle::Park).await.unwrap();
    assert_eq!((bench.waits_in_queue().await, bench.parked().await), (0, 1));
}

/// The lease of the worker has ended, and another worker has received or finished the message.
#[tokio::test]
async fn late_call_of_a_worker_loses_no_message() {
    let bench = Bench::new(LEASE).await;
    let mut deliveries = bench.deliveries();
    bench.send("order-7").await;
    let late = next(&mut deliveries).await;
    let current = next(&mut deliveries).await;
    // Each call may fail or succeed.
    let _ = late.extend(LEASE).await;
    let _ = late.settle(Settle::Retry { after: Duration::ZERO }).await;
    current.settle(Settle::Ack).await.unwrap();
    assert_eq!(bench.waits_in_queue().await, 0);
    let _ = late.settle(Settle::Retry { after: Duration::ZERO }).await;
    bench.send("order-8").await;
    let mut seen = id(&next(&mut deliveries).await);
    while seen == "order-7" {
        seen = id(&next(&mut deliveries).await);
    }
    assert_eq!(seen, "order-8");
}

#[tokio::test]
async fn destination_without_a_stream_is_an_error() {
    let bench = Bench::new(LONG).await;
    for destination in ["nowhere.at-all", "no subject", "*", "two..dots"] {
        let message = Outgoing { destination: destination.try_into().unwrap(), ..bench.outgoing("id", "body") };
        assert!(bench.connection.dispatch(&[message]).await.is_err(), "{destination}");
    }
}

/// The driver lets 5,000 messages wait for their confirmation at once.
#[tokio::test]
async fn any_number_of_messages_can_be_sent_at_once() {
    let bench = Bench::new(LONG).await;
    let messages: Vec<_> = (0..5_001).map(|count| bench.outgoing(&format!("{count}"), "body")).collect();
    bench.connection.dispatch(&messages).await.unwrap();
    assert_eq!(bench.waits_in_queue().await, 5_001);
    let sent = bench.raw.get_stream(&bench.name).await.unwrap().get_raw_message(4_321).await.unwrap();
    assert_eq!(sent.headers.get("storagebox-id").unwrap().as_str(), "4320");
}

#[tokio::test]
async fn second_setup_changes_the_lease_of_a_queue() {
    let bench = Bench::new(LONG).await;
    bench.send("order-7").await;
    bench.connection.setup(&bench.queue.clone().lease(LEASE).unwrap()).await.unwrap();
    let mut deliveries = bench.deliveries();
    drop(next(&mut deliveries).await);
    assert_eq!(id(&next(&mut deliveries).await), "order-7");
}

#[tokio::test]
async fn missing_queue_is_an_error_until_setup_creates_it() {
    let bench = Bench::new(LONG).await;
    let queue = NatsQueue::new(format!("{}-later", bench.name));
    let mut deliveries: Deliveries = bench.connection.deliveries(&queue).boxed();
    assert!(deliveries.next().await.unwrap().is_err());
    bench.connection.setup(&queue).await.unwrap();
    let destination = format!("{}-later", bench.name).try_into().unwrap();
    bench.connection.dispatch(&[Outgoing { destination, ..bench.outgoing("id", "body") }]).await.unwrap();
    assert_eq!(id(&next(&mut deliveries).await), "id");
}

#[tokio::test]
async fn acknowledged_message_survives_a_killed_server() {
    let server = Nats::start().unwrap();
    let bench = Bench::at(&server.url(), Duration::from_secs(5)).await;
    let mut deliveries = bench.deliveries();
    bench.send("settled").await;
    next(&mut deliveries).await.settle(Settle::Ack).await.unwrap();
    bench.send("in hand").await;
    let in_hand = next(&mut deliveries).await;
    for count in 0..20 {
        bench.send(&format!("waiting {count}")).await;
    }
    server.kill().unwrap();
    server.start_again().unwrap();
    let _ = in_hand.settle(Settle::Retry { after: Duration::ZERO }).await;
    let mut expected: Vec<_> = (0..20).map(|count| format!("waiting {count}")).chain(["in hand".to_owned()]).collect();
    while !expected.is_empty() {
        let delivery = next(&mut deliveries).await;
        expected.retain(|waiting| *waiting != id(&delivery));
        let _ = delivery.settle(Settle::Ack).await;
    }
    bench.send("afterwards").await;
    while id(&next(&mut deliveries).await) != "afterwards" {}
}

#[tokio::test]
async fn debug_output_and_errors_show_no_secret() {
    let bench = Bench::new(LONG).await;
    bench.send("order-7").await;
    let shown = format!("{:?} {:?}", bench.connection, next(&mut bench.deliveries()).await);
    assert!(!shown.contains("token of") && !shown.contains("127.0.0.1") && shown.contains("order-7"), "{shown}");
    for address in ["nats://ann:secret@127.0.0.1:1", "http://ann:secret@127.0.0.1", "nats://ann:secret@[x"] {
        let error = NatsQueues::connect(address).await.unwrap_err();
        let mut text = format!("{error} {error:?}");
        let mut source = error.source();
        while let Some(error) = source {
            text += &error.to_string();
            source = error.source();
        }
        assert!(!text.contains("secret"), "{text}");
    }
}
