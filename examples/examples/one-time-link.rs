//! A link in a mail that signs in once. Scanners open it before people do, people click twice and reload, and the server
//! crashes once on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use storagebox::{BoxError, OneTimeTokens, Payload, Peeked, Store, Timer, TokenBegun, TokenCommitted, TokioTimer};

/// A hash of the secret in the link, so that nobody signs in with what the store holds.
const TOKEN: &str = "hash-of-the-secret";
const LEASE: Duration = Duration::from_millis(200);

/// What the site answers: a status and a text.
type Answer = (u16, String);

#[derive(Clone)]
struct Site {
    links: OneTimeTokens,
    sessions: Arc<AtomicU32>,
}

impl Site {
    /// `GET`: a page with a button. Whoever opens the link by itself comes no further.
    async fn page(&self, token: &str) -> storagebox::Result<Answer> {
        Ok(match self.links.peek(token).await? {
            Peeked::Live => (200, "press the button to sign in".to_owned()),
            Peeked::Gone => (410, "this link was used".to_owned()),
        })
    }

    /// `POST`: the button. The browser is known by a cookie that came with the page.
    async fn button(&self, token: &str, browser: &str) -> storagebox::Result<Answer> {
        let lease = match self.links.begin(token, browser, LEASE).await? {
            TokenBegun::Started(lease) => lease,
            TokenBegun::Replayed(session) => return Ok((200, text(&session))),
            TokenBegun::InUse { .. } => return Ok((503, "try again in a moment".to_owned())),
            TokenBegun::Gone => return Ok((410, "this link was used".to_owned())),
        };
        let session = format!("session {} of {browser}", self.sessions.fetch_add(1, Ordering::SeqCst));
        Ok(match self.links.commit(&lease, session).await? {
            TokenCommitted::Committed(session) => (200, text(&session)),
            TokenCommitted::Fenced => (503, "try again in a moment".to_owned()),
        })
    }

    /// As a browser does: again after 503.
    async fn pressed(&self, browser: &str) -> storagebox::Result<Answer> {
        loop {
            let answer = self.button(TOKEN, browser).await?;
            if answer.0 != 503 {
                return Ok(answer);
            }
            TokioTimer.sleep(Duration::from_millis(20)).await;
        }
    }
}

fn text(session: &Payload) -> String {
    String::from_utf8_lossy(session.as_bytes()).into_owned()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    let site = Site { links: store.one_time_tokens("sign-in")?, sessions: Arc::default() };
    site.links.create([TOKEN]).await?;

    // Scanners, previews and the person open the page.
    for _ in 0..10 {
        assert_eq!(site.page(TOKEN).await?.0, 200);
    }

    // A server that crashes after it has begun: the link is free again once the lease has lapsed.
    let crashed = site.links.begin(TOKEN, "nobody", LEASE).await?;
    assert!(matches!(crashed, TokenBegun::Started(_)));

    // Two browsers press the button, five times each and all at once.
    let presses: Vec<_> = (0..10)
        .map(|press| {
            let site = site.clone();
            tokio::spawn(async move { site.pressed(["browser-1", "browser-2"][press % 2]).await })
        })
        .collect();
    let mut answers = vec![];
    for press in presses {
        answers.push(press.await??);
    }
    let sessions: Vec<_> = answers.iter().filter(|(status, _)| *status == 200).collect();
    println!(
        "10 presses: {} got {:?}, {} were told that it was used",
        sessions.len(),
        sessions[0].1,
        10 - sessions.len()
    );
    assert_eq!(sessions.len(), 5, "one browser gets its session on every press");
    assert!(sessions.iter().all(|answer| *answer == sessions[0]));
    assert_eq!(site.sessions.load(Ordering::SeqCst), 1);
    assert_eq!(site.page(TOKEN).await?.0, 410);
    Ok(())
}
