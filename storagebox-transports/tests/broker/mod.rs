//! A server that refuses an AMQP login like RabbitMQ. A real broker would take a minute to start.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Starts a server that refuses each login with this reply code and text. Returns the address of the server, and the
/// bytes from the client.
pub(crate) async fn refusing(code: u16, why: &str) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, close) = (listener.local_addr().unwrap(), close(code, why));
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut header = [0; 8];
        stream.read_exact(&mut header).await.unwrap();
        assert_eq!(&header[..4], b"AMQP");
        stream.write_all(&start()).await.unwrap();
        let mut heard = vec![];
        while heard.last() != Some(&0xCE) {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0, "the client went away");
        }
        stream.write_all(&close).await.unwrap();
        let _ = stream.read(&mut [0; 64]).await;
        heard
    });
    (address, heard)
}

/// Returns the AMQP frame `connection.start` of protocol version 0.9, without properties.
fn start() -> Vec<u8> {
    let mut method = vec![0, 10, 0, 10, 0, 9, 0, 0, 0, 0];
    for text in ["PLAIN", "en_US"] {
        method.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
        method.extend(text.bytes());
    }
    frame(&method)
}

/// Returns the AMQP frame `connection.close` with this code and text.
fn close(code: u16, why: &str) -> Vec<u8> {
    let mut method = vec![0, 10, 0, 50];
    method.extend(code.to_be_bytes());
    method.push(u8::try_from(why.len()).unwrap());
    method.extend(why.bytes());
    method.extend([0; 4]);
    frame(&method)
}

fn frame(method: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0, 0];
    frame.extend(u32::try_from(method.len()).unwrap().to_be_bytes());
    frame.extend(method);
    frame.push(0xCE);
    frame
}
