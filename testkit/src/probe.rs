//! Whether a server answers in its own protocol: an open port may be anybody's.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::url::Url;

const CONNECT: Duration = Duration::from_secs(3);
const ANSWER: Duration = Duration::from_secs(5);

/// PostgreSQL, or a pooler in front of it: the first message is answered with a demand to log in.
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

/// The length of all, the protocol's version, names and values.
fn startup(user: &str, database: &str) -> Vec<u8> {
    let body = format!("\0\x03\0\0user\0{user}\0database\0{database}\0\0");
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), body.as_bytes()].concat()
}

/// What an error says: fields that begin with a letter, of which M is the message.
fn refusal(stream: TcpStream) -> String {
    let mut answer = vec![];
    // The server closes the connection after an error, so that this has an end.
    let _ = stream.take(4096).read_to_end(&mut answer);
    let fields = answer.get(4..).unwrap_or_default().split(|byte| *byte == 0);
    let message = fields.filter_map(|field| field.strip_prefix(b"M")).next().unwrap_or(b"it refuses");
    String::from_utf8_lossy(message).into_owned()
}

/// The first address that takes the connection.
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

    fn answered_with(answer: &'static [u8]) -> io::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", crate::port::free().unwrap())).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 8]).unwrap();
            stream.write_all(answer).unwrap();
        });
        let outcome = postgres(&Url::parse(&format!("postgres://a@127.0.0.1:{port}/b")).unwrap());
        server.join().unwrap();
        outcome
    }

    #[test]
    fn only_a_demand_to_log_in_is_an_answer() {
        assert!(answered_with(b"R").is_ok());
        let refusal = answered_with(b"E\0\0\0\x20SFATAL\0C57P03\0Mthe database system is starting up\0\0");
        assert_eq!(refusal.unwrap_err().to_string(), "the database system is starting up");
        assert!(answered_with(b"HTTP/1.1 400 Bad Request").is_err());
        assert!(answered_with(b"").is_err());
    }
}
