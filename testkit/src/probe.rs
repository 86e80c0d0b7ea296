//! Checks that a server answers in its own protocol: any server may listen on an open port.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::url::Url;

const CONNECT: Duration = Duration::from_secs(3);
const ANSWER: Duration = Duration::from_secs(5);

/// Checks that the server is PostgreSQL or a pooler: the server must ask for a login.
pub(crate) fn postgres(url: &Url) -> io::Result<()> {
    let mut stream = connect(&url.host, url.port)?;
    stream.write_all(&startup(&url.user, &url.database))?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    match answer {
        [b'R'] => Ok(()),
        [b'E'] => Err(io::Error::other(refusal(stream))),
        _ => Err(io::Error::other("it does not speak PostgreSQL's protocol")),
    }
}

/// Returns the startup message, which consists of its length, the version of the protocol, names and values.
fn startup(user: &str, database: &str) -> Vec<u8> {
    let body = format!("\0\x03\0\0user\0{user}\0database\0{database}\0\0");
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), body.as_bytes()].concat()
}

/// Reads an error of PostgreSQL, and returns its message, which is the field `M`.
fn refusal(stream: TcpStream) -> String {
    let mut answer = vec![];
    // The server closes the connection after an error, so reading ends.
    let _ = stream.take(4096).read_to_end(&mut answer);
    let fields = answer.get(4..).unwrap_or_default().split(|byte| *byte == 0);
    let message = fields.filter_map(|field| field.strip_prefix(b"M")).next().unwrap_or(b"it refuses");
    String::from_utf8_lossy(message).into_owned()
}

/// Checks that the server is DynamoDB by listing its tables. Returns the name of the server from its answer.
pub(crate) fn dynamodb(host: &str, port: u16) -> io::Result<Option<String>> {
    let mut stream = connect(host, port)?;
    stream.write_all(list_tables(host, port).as_bytes())?;
    let mut answer = vec![];
    stream.take(65_536).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.split(' ').nth(1) == Some("200") && body.contains("\"TableNames\"") {
        return Ok(field(head, "server"));
    }
    Err(io::Error::other(format!("it does not speak DynamoDB's protocol: {}", head.lines().next().unwrap_or(""))))
}

/// Checks that the server answers in the protocol of Redis, even if it only asks for a password.
pub(crate) fn redis(host: &str, port: u16) -> io::Result<()> {
    let mut stream = connect(host, port)?;
    stream.write_all(b"*1\r\n$4\r\nPING\r\n")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    match &answer {
        b"+PONG\r\n" | b"-NOAUTH" => Ok(()),
        b"-LOADIN" => Err(io::Error::other("it is still loading its data")),
        _ => Err(io::Error::other("it does not speak Redis's protocol")),
    }
}

/// Returns whether a node of a Redis cluster reports that all slots are served. A replica must also have all of its
/// master's data.
pub(crate) fn redis_cluster(host: &str, port: u16) -> io::Result<bool> {
    let mut stream = connect(host, port)?;
    stream.write_all(b"CLUSTER INFO\r\nINFO replication\r\nQUIT\r\n")?;
    let mut answer = String::new();
    stream.take(65_536).read_to_string(&mut answer)?;
    Ok(answer.contains("cluster_state:ok") && !answer.contains("master_link_status:down"))
}

/// Returns whether a sentinel knows `replicas` replicas of a master and `others` other sentinels.
pub(crate) fn redis_sentinel(host: &str, port: u16, replicas: u32, others: u32) -> io::Result<bool> {
    let mut stream = connect(host, port)?;
    stream.write_all(b"INFO sentinel\r\n")?;
    let (mut answer, mut chunk) = (vec![], [0; 4096]);
    // The sentinel does not close the connection, even when it is asked to.
    while !answer.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        answer.extend_from_slice(&chunk[..length]);
    }
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.contains(&format!("slaves={replicas},sentinels={}", others + 1)) && answer.contains("status=ok"))
}

/// Checks that the server is NATS, which describes itself to each new client. Returns the version of the server.
pub(crate) fn nats(host: &str, port: u16) -> io::Result<Option<String>> {
    let mut line = String::new();
    BufReader::new(connect(host, port)?.take(65_536)).read_line(&mut line)?;
    if !line.starts_with("INFO {") {
        return Err(io::Error::other("it does not speak NATS's protocol"));
    }
    let version = line.split_once("\"version\":\"").and_then(|(_, rest)| rest.split_once('"'));
    Ok(version.map(|(version, _)| version.to_owned()))
}

/// Checks that the server is RabbitMQ by beginning a conversation in AMQP 0.9.1. Returns the version of the server.
pub(crate) fn rabbitmq(host: &str, port: u16) -> io::Result<Option<String>> {
    let mut stream = connect(host, port)?;
    stream.write_all(b"AMQP\0\0\x09\x01")?;
    let mut head = [0; 11];
    stream.read_exact(&mut head)?;
    // The head of a method frame on channel 0: its length, and the method Start of the class Connection.
    let [1, 0, 0, a, b, c, d, 0, 10, 0, 10] = head else {
        return Err(io::Error::other("it does not speak AMQP 0.9.1"));
    };
    // The length includes the four bytes that name the method.
    let rest = u64::from(u32::from_be_bytes([a, b, c, d])).saturating_sub(4);
    let mut body = vec![];
    stream.take(rest.min(65_536)).read_to_end(&mut body)?;
    Ok(property(&body, "version"))
}

/// Returns the text property of this name from the description that RabbitMQ sends.
fn property(body: &[u8], name: &str) -> Option<String> {
    // A property consists of the length of its name, the name, S, the length of the text in four bytes, and the text.
    let name = [&[u8::try_from(name.len()).ok()?], name.as_bytes(), b"S"].concat();
    let start = body.windows(name.len()).position(|part| part == name)? + name.len();
    let (length, rest) = body.get(start..)?.split_first_chunk::<4>()?;
    let text = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns a request that lists the tables, with an invalid signature. Servers for tests do not check signatures.
fn list_tables(host: &str, port: u16) -> String {
    let signature = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date, Signature=0";
    format!(
        "POST / HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\
         content-type: application/x-amz-json-1.0\r\ncontent-length: 2\r\n\
         x-amz-target: DynamoDB_20120810.ListTables\r\nx-amz-date: 20260101T000000Z\r\n\
         authorization: {signature}\r\n\r\n{{}}"
    )
}

fn field(head: &str, name: &str) -> Option<String> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

/// Connects to the first address that accepts the connection.
fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return stream.set_read_timeout(Some(ANSWER)).map(|()| stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Starts a server that reads this many bytes and then sends `answer`. Returns the result of `ask` on its port.
    fn answered<T>(bytes: usize, answer: &'static [u8], ask: impl Fn(u16) -> io::Result<T>) -> io::Result<T> {
        let listener = TcpListener::bind(("127.0.0.1", crate::port::free().unwrap())).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut vec![0; bytes]).unwrap();
            stream.write_all(answer).unwrap();
        });
        let outcome = ask(port);
        server.join().unwrap();
        outcome
    }

    #[test]
    fn a_postgres_answer_must_ask_for_a_login() {
        let ask = |port| postgres(&Url::parse(&format!("postgres://a@127.0.0.1:{port}/b")).unwrap());
        let answered_with = |answer| answered(8, answer, ask);
        assert!(answered_with(b"R").is_ok());
        let refusal = answered_with(b"E\0\0\0\x20SFATAL\0C57P03\0Mthe database system is starting up\0\0");
        assert_eq!(refusal.unwrap_err().to_string(), "the database system is starting up");
        assert!(answered_with(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(answered_with(b"").is_err());
    }

    #[test]
    fn a_redis_answer_must_be_in_its_protocol() {
        let answered_with = |answer| answered(14, answer, |port| redis("127.0.0.1", port));
        assert!(answered_with(b"+PONG\r\n").is_ok());
        assert!(answered_with(b"-NOAUTH Authentication required.\r\n").is_ok());
        assert!(answered_with(b"-LOADING Redis is loading the dataset in memory\r\n").is_err());
        assert!(answered_with(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(answered_with(b"").is_err());
    }

    #[test]
    fn a_dynamodb_answer_must_list_tables() {
        let answered_with =
            |answer| answered(list_tables("127.0.0.1", 10_240).len(), answer, |port| dynamodb("127.0.0.1", port));
        let tables = b"HTTP/1.1 200 OK\r\nServer: Some/1\r\n\r\n{\"TableNames\":[]}";
        assert_eq!(answered_with(tables).unwrap().as_deref(), Some("Some/1"));
        assert!(answered_with(b"HTTP/1.1 200 OK\r\n\r\nwelcome").is_err());
        assert!(answered_with(b"HTTP/1.1 400 Bad Request\r\n\r\n{\"TableNames\":[]}").is_err());
        assert!(answered_with(b"").is_err());
    }

    #[test]
    fn a_nats_answer_must_begin_with_its_description() {
        let answered_with = |answer| answered(0, answer, |port| nats("127.0.0.1", port));
        let info = b"INFO {\"server_id\":\"a\",\"version\":\"2.9.10\",\"max_payload\":1048576}\r\n";
        assert_eq!(answered_with(info).unwrap().as_deref(), Some("2.9.10"));
        assert_eq!(answered_with(b"INFO {}\r\n").unwrap(), None);
        assert!(answered_with(b"+PONG\r\n").is_err());
        assert!(answered_with(b"").is_err());
    }

    #[test]
    fn a_rabbitmq_answer_must_begin_an_amqp_conversation() {
        let answered_with = |answer| answered(8, answer, |port| rabbitmq("127.0.0.1", port));
        let start = b"\x01\0\0\0\0\0\x1d\0\x0a\0\x0a\0\x09\0\0\0\x12\x07versionS\0\0\0\x063.10.8\xce";
        assert_eq!(answered_with(start).unwrap().as_deref(), Some("3.10.8"));
        assert!(answered_with(b"AMQP\0\0\x09\x01").is_err(), "it speaks another version");
        assert!(answered_with(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(answered_with(b"").is_err());
    }
}
