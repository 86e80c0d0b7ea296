//! A client of DynamoDB's protocol without the driver.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, \
     SignedHeaders=host;x-amz-date, Signature=0";

/// Sends a request, and returns the body of the answer if the request succeeded.
pub(crate) fn ask(server: SocketAddr, operation: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(server)?;
    let length = body.len();
    write!(
        stream,
        "POST / HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\ncontent-length: {length}\r\n\
         content-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n\
         x-amz-date: 20260101T000000Z\r\nauthorization: {SIGNATURE}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.strip_prefix("HTTP/1.1 200 ").and_then(|answer| answer.split_once("\r\n\r\n")) {
        Some((_, body)) => Ok(body.to_owned()),
        None => Err(io::Error::other(answer)),
    }
}
