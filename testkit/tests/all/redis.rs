//! Tests of our own Redis server: it answers, it can be killed, and it keeps its data.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use storagebox_testkit::Failure;
use storagebox_testkit::redis::{Cluster, Redis, Sentinels, Settings};

/// Sends a command of one line, and returns the first line of the answer.
fn ask(server: SocketAddr, command: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(server)?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Sends a command of one line. Returns the texts of the answer, which must be a list of texts.
fn ask_all(server: SocketAddr, command: &str) -> io::Result<Vec<String>> {
    let mut stream = TcpStream::connect(server)?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut lines = BufReader::new(stream).lines();
    let count = lines.next().transpose()?.and_then(|line| line.strip_prefix('*')?.parse().ok());
    // Each text comes after a line with its length.
    lines.skip(1).step_by(2).take(count.unwrap_or(0)).collect()
}

#[test]
fn acknowledged_writes_survive_a_kill_and_a_stop() {
    let server = Redis::start(&Settings::durable()).unwrap();
    let address = server.address();
    assert_eq!(ask(address, "INCR kept").unwrap(), ":1");
    server.kill().unwrap();
    assert!(ask(address, "PING").is_err(), "a killed server does not answer");
    server.start_again().unwrap();
    assert_eq!(ask(address, "INCR kept").unwrap(), ":2");
    server.stop().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(address, "INCR kept").unwrap(), ":3");
}

#[test]
fn a_paused_server_answers_when_it_continues() {
    let server = Redis::start(&Settings::quick()).unwrap();
    let paused = server.pause().unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    // Much longer than an answer takes.
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(stream.read(&mut [0]).is_err(), "a paused server does not answer");
    drop(paused);
    stream.set_read_timeout(None).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert_eq!(line, "+PONG\r\n");
    server.stop().unwrap();
    assert!(matches!(server.pause(), Err(Failure::WrongState { .. })));
}

#[test]
fn data_that_is_not_persistent_is_lost_with_the_server() {
    let server = Redis::start(&Settings::quick()).unwrap();
    assert_eq!(ask(server.address(), "INCR kept").unwrap(), ":1");
    server.kill().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(server.address(), "INCR kept").unwrap(), ":1");
}

#[test]
fn a_cluster_serves_all_slots() {
    let cluster = Cluster::start(3, &Settings::quick()).unwrap();
    assert_eq!(cluster.nodes().len(), 6);
    assert!(cluster.url().starts_with("redis+cluster://127.0.0.1:"));
    let answers: Vec<_> = cluster.nodes()[..3].iter().map(|node| ask(node.address(), "INCR kept").unwrap()).collect();
    assert_eq!(answers.iter().filter(|answer| *answer == ":1").count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("-MOVED ")).count(), 2, "{answers:?}");
}

#[test]
fn sentinels_know_the_master_and_its_replica() {
    let sentinels = Sentinels::start(&Settings::quick()).unwrap();
    assert!(sentinels.url().starts_with("redis+sentinel://127.0.0.1:"));
    let answers: Vec<_> = sentinels.nodes().iter().map(|node| ask(node.address(), "SET key value").unwrap()).collect();
    assert!(answers[0] == "+OK" && answers[1].starts_with("-READONLY "), "{answers:?}");
}

/// A master on a busy machine may be silent for seconds, so sentinels and cluster nodes must wait for ten minutes.
#[test]
fn a_replica_takes_over_only_after_ten_minutes_of_silence() {
    let sentinels = Sentinels::start(&Settings::quick()).unwrap();
    for sentinel in sentinels.sentinels() {
        let all = ask_all(sentinel.address(), "SENTINEL MASTER mymaster").unwrap();
        let limit = all.iter().skip_while(|text| *text != "down-after-milliseconds").nth(1);
        assert_eq!(limit.map(String::as_str), Some("600000"), "{all:?}");
    }
    let cluster = Cluster::start(3, &Settings::quick()).unwrap();
    for node in cluster.nodes() {
        let all = ask_all(node.address(), "CONFIG GET cluster-node-timeout").unwrap();
        assert!(all.iter().any(|text| text == "600000"), "{all:?}");
    }
}

#[test]
fn calls_in_the_wrong_state_and_a_taken_port_fail() {
    let server = Redis::start(&Settings::quick().with("maxmemory", "100mb")).unwrap();
    assert!(matches!(server.start_again(), Err(Failure::WrongState { .. })));
    server.stop().unwrap();
    assert!(matches!(server.stop(), Err(Failure::WrongState { .. })));
    assert!(matches!(server.kill(), Err(Failure::WrongState { .. })));
    let _listener = TcpListener::bind(server.address()).unwrap();
    let failure = server.start_again().unwrap_err().to_string();
    assert!(failure.contains("does not start") && failure.contains("already in use"), "{failure}");
}

#[test]
fn an_unknown_setting_is_a_failure_that_shows_the_log() {
    let failure = Redis::start(&Settings::quick().with("no-such-setting", "1")).unwrap_err().to_string();
    assert!(failure.contains("no-such-setting"), "{failure}");
}
