//! The drivers log no password of a URL, even at the level `TRACE`. These tests have a separate program, because the
//! drivers log from threads of their own.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod broker;
mod said;

use std::sync::LazyLock;

use redis::cmd;
use sqlx::{Connection, PgConnection, raw_sql};
use storagebox_core::{Destination, Error, ErrorKind};
use storagebox_testkit::nats::Nats;
use storagebox_testkit::servers::{shared_postgres, shared_redis};
use storagebox_transports::{NatsQueue, NatsQueues, PostgresQueues, RabbitQueues, RedisQueues};

use said::Said;

static SAID: LazyLock<Said> = LazyLock::new(Said::everywhere);

/// Checks that the log has lines of the driver, and that no line has the secret.
fn assert_silent(driver: &str, secret: &str) {
    assert!(SAID.text().contains(driver), "{driver} was not heard at all");
    assert_eq!(SAID.lines(secret), Vec::<String>::new());
    // A driver may show the secret as a list of bytes.
    let bytes = format!("{:?}", secret.as_bytes());
    assert_eq!(SAID.lines(bytes.trim_matches(['[', ']'])), Vec::<String>::new());
}

fn name() -> Destination {
    "orders".parse().unwrap()
}

#[tokio::test]
async fn redis_driver_logs_no_secret() {
    LazyLock::force(&SAID);
    let url = shared_redis().unwrap().url();
    let mut direct = redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
    let mut user = cmd("ACL");
    user.arg("SETUSER").arg("ann-redis").arg("on").arg(">hunter2-redis").arg("~*").arg("+@all");
    user.query_async::<()>(&mut direct).await.unwrap();
    let login = url.replace("redis://", "redis://ann-redis:hunter2-redis@");
    let queues = RedisQueues::connect(&format!("{login}/0?prefix=prefix-redis")).unwrap();
    queues.setup(&name()).await.unwrap();
    assert_eq!(queues.parked(&name()).await.unwrap(), 0);
    for url in [
        login.replace("hunter2", "other-hunter2"),
        format!("{login}?surprise=hunter2-redis"),
        format!("{login}#hunter2-redis"),
    ] {
        match RedisQueues::connect(&url) {
            Ok(queues) => drop(queues.setup(&name()).await.unwrap_err()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Misconfigured),
        }
    }
    for secret in ["hunter2-redis", "ann-redis", "prefix-redis"] {
        assert_eq!(SAID.lines(secret), Vec::<String>::new());
    }
}

#[tokio::test]
async fn postgres_driver_logs_no_secret() {
    LazyLock::force(&SAID);
    let url = shared_postgres().unwrap().url();
    let mut direct = PgConnection::connect(url).await.unwrap();
    let role = "CREATE ROLE ann_postgres SUPERUSER LOGIN PASSWORD 'hunter2-postgres'";
    let _quiet = tracing::subscriber::set_default(tracing::subscriber::NoSubscriber::new());
    raw_sql(role).execute(&mut direct).await.unwrap();
    drop(_quiet);
    let (_, rest) = url.rsplit_once('@').unwrap();
    let login =
        format!("postgres://ann_postgres:hunter2-postgres@{rest}?schema=schema_postgres&application_name=app-postgres");
    let queues = PostgresQueues::connect(&login).unwrap();
    queues.setup().await.unwrap();
    assert_eq!(queues.parked(&name()).await.unwrap(), 0);
    for url in [
        login.replace("hunter2", "other-hunter2"),
        format!("{login}&surprise=hunter2-postgres"),
        format!("{login}#hunter2-postgres"),
    ] {
        match PostgresQueues::connect(&url) {
            Ok(queues) => drop(queues.setup().await.unwrap_err()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Misconfigured),
        }
    }
    for secret in ["hunter2-postgres", "ann_postgres", "schema_postgres", "app-postgres"] {
        assert_eq!(SAID.lines(secret), Vec::<String>::new());
    }
}

#[tokio::test]
async fn nats_driver_logs_no_secret() {
    LazyLock::force(&SAID);
    let server = Nats::start_with("authorization { user: ann-nats, password: \"hunter2-nats\" }").unwrap();
    let login = server.url().replace("nats://", "nats://ann-nats:hunter2-nats@");
    let queues = NatsQueues::connect(&login).await.unwrap();
    let queue = NatsQueue::new("orders");
    queues.setup(&queue).await.unwrap();
    assert_eq!(queues.redrive(&queue).await.unwrap(), 0);
    for wrong in [login.replace("hunter2", "other-hunter2"), login.replace("ann-nats:", "")] {
        let error = NatsQueues::connect(&wrong).await.unwrap_err();
        assert_eq!(error.downcast_ref::<Error>().unwrap().kind(), ErrorKind::Denied, "{error}");
    }
    // The driver logs the user of a login, and masks the password.
    assert_silent("async_nats", "hunter2-nats");
}

#[tokio::test]
async fn rabbitmq_driver_logs_no_secret() {
    LazyLock::force(&SAID);
    let (address, heard) = broker::refusing(403, "ACCESS_REFUSED - Login was refused").await;
    let error = RabbitQueues::connect(&format!("amqp://ann-rabbit:hunter2-rabbit@{address}")).await.unwrap_err();
    assert_eq!(error.downcast_ref::<Error>().unwrap().kind(), ErrorKind::Denied, "{error}");
    let heard = String::from_utf8_lossy(&heard.await.unwrap()).into_owned();
    assert!(heard.contains("\0ann-rabbit\0hunter2-rabbit"), "{heard:?}");
    assert_silent("lapin", "hunter2-rabbit");
    assert_silent("lapin", "ann-rabbit");
}
