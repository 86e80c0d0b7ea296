//! Tests of our own RabbitMQ server: it answers, and it can be killed and restarted. The tests of the transport check
//! that it keeps its data.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;

use storagebox_testkit::Failure;
use storagebox_testkit::rabbitmq::RabbitMq;

/// Sends a greeting, and returns the first bytes of the answer.
fn greet(server: &RabbitMq) -> io::Result<[u8; 7]> {
    let url = server.url();
    let mut stream = TcpStream::connect(url.trim_start_matches("amqp://"))?;
    stream.write_all(b"AMQP\0\0\x09\x01")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).map(|()| answer)
}

#[test]
#[ignore = "its broker takes a minute to start: cargo xtask prove transports"]
fn a_killed_broker_answers_again_after_a_restart() {
    let other = thread::spawn(|| RabbitMq::start().unwrap());
    let server = RabbitMq::start().unwrap();
    let other = other.join().unwrap();
    assert!(greet(&server).unwrap().starts_with(&[1, 0, 0]));
    assert!(matches!(server.start_again(), Err(Failure::WrongState { .. })));
    server.kill().unwrap();
    assert!(greet(&server).is_err(), "a killed broker does not answer");
    assert!(greet(&other).is_ok(), "another broker is not concerned");
    server.start_again().unwrap();
    assert!(greet(&server).is_ok());
    server.stop().unwrap();
    assert!(greet(&server).is_err(), "a stopped broker does not answer");
    assert!(matches!(server.kill(), Err(Failure::WrongState { .. })));
}
