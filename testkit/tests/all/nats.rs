//! Tests of our own NATS server: it answers, it can be killed, and it keeps its data.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use storagebox_testkit::Failure;
use storagebox_testkit::nats::Nats;

/// Sends a request in the server's protocol, and returns the answer.
fn ask(server: &Nats, subject: &str, body: &str) -> io::Result<String> {
    let url = server.url();
    let mut stream = TcpStream::connect(url.trim_start_matches("nats://"))?;
    let connect = "CONNECT {\"verbose\":false}\r\nSUB answers 1\r\n";
    write!(stream, "{connect}PUB {subject} answers {}\r\n{body}\r\n", body.len())?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("MSG answers ") {
        line.clear();
        assert_ne!(stream.read_line(&mut line)?, 0, "it hung up");
    }
    let length = line.trim_end().rsplit(' ').next().and_then(|length| length.parse().ok());
    let mut answer = vec![0; length.unwrap()];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8(answer).unwrap())
}

#[test]
fn acknowledged_messages_survive_a_kill_and_a_stop() {
    let server = Nats::start().unwrap();
    let made = ask(&server, "$JS.API.STREAM.CREATE.kept", "{\"name\":\"kept\",\"subjects\":[\"kept\"]}").unwrap();
    assert!(!made.contains("\"error\""), "{made}");
    let kept = || ask(&server, "kept", "text").unwrap();
    assert!(kept().contains("\"seq\":1"));
    server.kill().unwrap();
    assert!(ask(&server, "kept", "text").is_err(), "a killed server does not answer");
    server.start_again().unwrap();
    assert!(kept().contains("\"seq\":2"));
    server.stop().unwrap();
    server.start_again().unwrap();
    assert!(kept().contains("\"seq\":3"));
}

#[test]
fn start_kill_and_pause_in_the_wrong_state_fail() {
    let server = Nats::start().unwrap();
    assert!(matches!(server.start_again(), Err(Failure::WrongState { .. })));
    server.stop().unwrap();
    assert!(matches!(server.kill(), Err(Failure::WrongState { .. })));
    assert!(matches!(server.pause(), Err(Failure::WrongState { .. })));
}
