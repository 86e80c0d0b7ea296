//! Tests of the proxy, in front of a server that records each line and answers it in two segments.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use storagebox_conformance::{Cut, Proxy};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

type Noted = Arc<Mutex<Vec<String>>>;

/// Starts a server that records whole lines and answers each with `done <line>`.
async fn server() -> (SocketAddr, Noted) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, noted) = (listener.local_addr().unwrap(), Noted::default());
    let notes = Arc::clone(&noted);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(answer(client, Arc::clone(&notes)));
        }
    });
    (addr, noted)
}

async fn answer(mut client: TcpStream, noted: Noted) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let (reader, mut writer) = client.split();
    let mut lines = BufReader::new(reader);
    let mut line = String::new();
    while lines.read_line(&mut line).await? > 0 && line.ends_with('\n') {
        noted.lock().unwrap().push(line.trim_end().to_owned());
        writer.write_all(b"done ").await?;
        tokio::task::yield_now().await;
        writer.write_all(line.as_bytes()).await?;
        line.clear();
    }
    Ok(())
}

async fn proxied() -> (Proxy, Noted) {
    let (addr, noted) = server().await;
    (Proxy::start(addr).await.unwrap(), noted)
}

async fn connect(proxy: &Proxy) -> BufReader<TcpStream> {
    BufReader::new(TcpStream::connect(proxy.addr()).await.unwrap())
}

/// Sends the pieces one after another, and reads one line or the part of a line that arrives.
async fn ask(client: &mut BufReader<TcpStream>, pieces: &[&str]) -> std::io::Result<String> {
    client.get_ref().set_nodelay(true)?;
    for piece in pieces {
        client.get_mut().write_all(piece.as_bytes()).await?;
        tokio::task::yield_now().await;
    }
    let mut line = String::new();
    client.read_line(&mut line).await?;
    Ok(line)
}

#[tokio::test]
async fn the_proxy_passes_requests_without_the_armed_text() {
    let (proxy, noted) = proxied().await;
    let mut client = connect(&proxy).await;
    proxy.arm(Cut::RequestLost, "order-18", 0);
    assert_eq!(ask(&mut client, &["order-17\n"]).await.unwrap(), "done order-17\n");
    proxy.disarm();
    assert_eq!(ask(&mut client, &["order-18\n"]).await.unwrap(), "done order-18\n");
    assert_eq!(proxy.cuts(), 0);
    assert_eq!(*noted.lock().unwrap(), ["order-17", "order-18"]);
}

#[tokio::test]
async fn a_lost_request_does_not_reach_the_server() {
    for cut in [Cut::RequestLost, Cut::HalfRequest] {
        let (proxy, noted) = proxied().await;
        let mut client = connect(&proxy).await;
        proxy.arm(cut, "order-17", 0);
        let error = ask(&mut client, &["order-17\n"]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{cut:?}");
        assert_eq!(proxy.cuts(), 1);
        assert_eq!(*noted.lock().unwrap(), [""; 0], "{cut:?}");
    }
}

/// Accepts a connection and resets it, after reading the request if `reads` is true.
async fn resetting(listener: TcpListener, reads: bool) {
    let (mut client, _) = listener.accept().await.unwrap();
    client.set_zero_linger().unwrap();
    if reads {
        let _ = client.read(&mut [0; 16]).await;
    }
}

#[tokio::test]
async fn a_connection_that_the_server_resets_counts_as_closed() {
    for (cut, reads) in Cut::ALL.into_iter().flat_map(|cut| [(cut, true), (cut, false)]) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy::start(listener.local_addr().unwrap()).await.unwrap();
        proxy.arm(cut, "order-17", 0);
        let server = tokio::spawn(resetting(listener, reads));
        let mut client = connect(&proxy).await;
        let answer = tokio::select! {
            answer = ask(&mut client, &["order-17\n"]) => Some(answer.map_err(|error| error.kind())),
            () = proxy.wait_for_cuts(1), if cut == Cut::NoAnswer => None,
        };
        server.await.unwrap();
        let struck = !proxy.disarm();
        assert_eq!(proxy.cuts(), usize::from(struck), "{cut:?}, {reads}: {answer:?}");
        assert!(struck || !reads, "{cut:?}: {answer:?}");
        let expected = match cut {
            Cut::NoAnswer => None,
            Cut::HalfReply => Some(Ok(String::new())),
            _ => Some(Err(ErrorKind::ConnectionReset)),
        };
        assert!(answer == expected || !struck, "{cut:?}, {reads}: {answer:?}");
    }
}

#[tokio::test]
async fn a_request_whose_reply_is_lost_reaches_the_server() {
    let (proxy, noted) = proxied().await;
    let mut client = connect(&proxy).await;
    proxy.arm(Cut::ReplyLost, "order-17", 0);
    let error = ask(&mut client, &["order-17\n"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(*noted.lock().unwrap(), ["order-17"]);
    let mut next = connect(&proxy).await;
    assert_eq!(ask(&mut next, &["order-17\n"]).await.unwrap(), "done order-17\n", "it happens once");
    assert_eq!(proxy.cuts(), 1);
}

#[tokio::test]
async fn the_proxy_can_lose_every_third_reply() {
    let (proxy, noted) = proxied().await;
    proxy.arm_every(Cut::ReplyLost, "order", 3);
    for number in 1..=9 {
        let mut client = connect(&proxy).await;
        let answer = ask(&mut client, &[&format!("order-{number}\n")]).await;
        assert_eq!(answer.is_err(), number % 3 == 0, "{number}: {answer:?}");
        assert_eq!(ask(&mut connect(&proxy).await, &["other\n"]).await.unwrap(), "done other\n");
    }
    assert_eq!((proxy.cuts(), noted.lock().unwrap().len()), (3, 18));
    assert!(proxy.disarm());
}

#[tokio::test]
async fn a_half_reply_cut_delivers_only_a_part_of_the_reply() {
    let (proxy, noted) = proxied().await;
    let mut client = connect(&proxy).await;
    proxy.arm(Cut::HalfReply, "order-17", 0);
    let part = ask(&mut client, &["order-17\n"]).await.unwrap();
    assert!("done order-17\n".starts_with(&part) && part.len() < 14 && !part.is_empty(), "{part:?}");
    assert_eq!((proxy.cuts(), noted.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn a_no_answer_cut_keeps_the_connection_open() {
    let (proxy, noted) = proxied().await;
    let mut client = connect(&proxy).await;
    proxy.arm(Cut::NoAnswer, "order-17", 0);
    client.get_mut().write_all(b"order-17\n").await.unwrap();
    proxy.wait_for_cuts(1).await;
    assert_eq!(*noted.lock().unwrap(), ["order-17"]);
    client.get_mut().write_all(b"order-18\n").await.unwrap();
    let mut byte = [0];
    let read = client.get_mut().read(&mut byte);
    assert!(futures_util::FutureExt::now_or_never(read).is_none(), "nothing to read, and no end");
}

/// The proxy recognises an armed text that the client sends in two segments.
#[tokio::test]
async fn a_split_request_is_recognised() {
    for cut in [Cut::RequestLost, Cut::HalfRequest, Cut::ReplyLost] {
        let (proxy, noted) = proxied().await;
        let mut client = connect(&proxy).await;
        proxy.arm(cut, "order-17", 0);
        client.get_mut().write_all(b"this is ord").await.unwrap();
        while proxy.round_trips() == 0 {
            tokio::task::yield_now().await;
        }
        ask(&mut client, &["e", "r-17", " and more", "\n"]).await.unwrap_err();
        assert_eq!(proxy.cuts(), 1, "{cut:?}");
        assert_eq!(noted.lock().unwrap().len(), usize::from(cut == Cut::ReplyLost), "{cut:?}");
    }
}

/// A slicing proxy delivers a request and its answer in many small pieces.
#[tokio::test]
async fn sliced_data_arrives_completely_in_small_pieces() {
    const LENGTH: usize = 1_000;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::start(listener.local_addr().unwrap()).await.unwrap();
    let sent: Vec<_> = (0..LENGTH).map(|number| number as u8).collect();
    for is_sliced in [true, false] {
        proxy.slice(is_sliced);
        let mut client = TcpStream::connect(proxy.addr()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        client.write_all(&sent).await.unwrap();
        let (there, asked) = pieces(&mut server, LENGTH).await;
        server.write_all(&there).await.unwrap();
        let (back, answered) = pieces(&mut client, LENGTH).await;
        assert_eq!((&there, &back), (&sent, &sent));
        for count in [asked, answered] {
            assert_eq!(count > LENGTH / 10, is_sliced, "{count} pieces");
        }
    }
}

/// Reads `length` bytes, and returns the bytes and the number of reads.
async fn pieces(from: &mut TcpStream, length: usize) -> (Vec<u8>, usize) {
    let (mut all, mut count, mut chunk) = (vec![], 0, [0; 4_096]);
    while all.len() < length {
        let read = from.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the end after {} bytes", all.len());
        all.extend_from_slice(&chunk[..read]);
        count += 1;
    }
    (all, count)
}

#[tokio::test]
async fn a_cut_comes_after_the_given_number_of_requests() {
    let (proxy, noted) = proxied().await;
    let mut client = connect(&proxy).await;
    proxy.arm(Cut::ReplyLost, "order-17", 2);
    for _ in 0..2 {
        ask(&mut client, &["order-17, ", "order-17\n"]).await.unwrap();
    }
    ask(&mut client, &["order-17\n"]).await.unwrap_err();
    assert_eq!((proxy.cuts(), noted.lock().unwrap().len()), (1, 3));
}

#[tokio::test]
async fn each_answered_request_counts_as_one_round_trip() {
    let (proxy, _) = proxied().await;
    let (mut one, mut other) = (connect(&proxy).await, connect(&proxy).await);
    ask(&mut one, &["a", "b", "c\n"]).await.unwrap();
    assert_eq!(proxy.round_trips(), 1, "one request in three segments");
    ask(&mut one, &["d\n"]).await.unwrap();
    ask(&mut other, &["e\n"]).await.unwrap();
    assert_eq!(proxy.round_trips(), 3);
}

#[tokio::test]
async fn a_dropped_proxy_closes_its_connections() {
    let (proxy, _) = proxied().await;
    let mut client = connect(&proxy).await;
    ask(&mut client, &["a\n"]).await.unwrap();
    drop(proxy);
    assert_eq!(ask(&mut client, &[]).await.unwrap_or_default(), "");
}
