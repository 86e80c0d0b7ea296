//! A payment by HTTP that is made once, wherever the client or the server crashes (article 2). The client stores a
//! request, executes it, fetches the response and ends the request. A crash drops the client and the call that the
//! server handles for it. Then a new client continues with the same server.
//!
//! `http-requests [URL] [--plain]`: with `--plain` the client sends one `POST` instead, and the check fails.

mod client;
mod crashes;
mod http;
mod rounds;
mod server;

use client::Protocol;
use storagebox::Store;
use storagebox::messages::BoxError;
use storagebox::parts::{Ids, RandomIds};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let (flags, urls): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let protocol = match flags.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Protocol::Requests,
        ["--plain"] => Protocol::Plain,
        _ => return Err(format!("{flags:?}: the only flag is --plain").into()),
    };
    let store = Store::open(urls.first().map_or("memory:", String::as_str)).await?;
    store.setup().await?;
    let steps = rounds::all(&store, &RandomIds.fresh(), protocol).await?;
    println!("one payment with a crash at each of {steps} steps: paid once, one response, nothing left");
    Ok(())
}
