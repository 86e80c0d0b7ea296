//! A link in a mail that signs a person in once. Scanners open the link before people do, people click twice and
//! reload, and the server crashes once during a sign-in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use storagebox::messages::BoxError;
use storagebox::parts::{Ids, RandomIds};
use storagebox::time::{Timer, TokioTimer};
use storagebox::tokens::{Peeked, TokenBegun, TokenCommitted};
use storagebox::{OneTimeTokens, Payload, Store};

/// The lease of a press of the button. A press takes much less time.
const LEASE: Duration = Duration::from_secs(30);
/// The lease of a press whose server crashes. A short lease lets the next press begin soon.
const CRASHED: Duration = Duration::from_millis(200);

/// The response of the site: a status and a text.
type Answer = (u16, String);

#[derive(Clone)]
struct Site {
    links: OneTimeTokens,
    sessions: Arc<AtomicU32>,
}

impl Site {
    /// Handles `GET`: returns a page with a button. A mail scanner that only opens the link does not sign in.
    async fn page(&self, token: &str) -> storagebox::Result<Answer> {
        Ok(match self.links.peek(token).await? {
            Peeked::Live => (200, "press the button to sign in".to_owned()),
            Peeked::Gone => (410, "this link was used".to_owned()),
        })
    }

    /// Handles `POST`, which the button sends. `browser` is a random cookie of the page. The cookie must not be
    /// guessable, because the link and the cookie together give access to the session.
    async fn button(&self, token: &str, browser: &str) -> storagebox::Result<Answer> {
        let lease = match self.links.begin(token, browser, LEASE).await? {
            TokenBegun::Started(lease) => lease,
            TokenBegun::Replayed(session) => return Ok((200, text(&session))),
            TokenBegun::InUse { .. } => return Ok((503, "try again in a moment".to_owned())),
            TokenBegun::Gone => return Ok((410, "this link was used".to_owned())),
        };
        let session = format!("session {}", self.sessions.fetch_add(1, Ordering::SeqCst));
        Ok(match self.links.commit(&lease, session).await? {
            TokenCommitted::Committed(session) => (200, text(&session)),
            TokenCommitted::Fenced => (503, "try again in a moment".to_owned()),
        })
    }

    /// Presses the button as a browser does, and tries again after 503.
    async fn pressed(&self, token: &str, browser: &str) -> storagebox::Result<Answer> {
        loop {
            let answer = self.button(token, browser).await?;
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
    // A real site passes hashes of the link's secret and of the browsers' cookies, because errors and logs may show
    // ids. The hashes do not hide the session: the store holds the session as the result, for as long as it is
    // replayed.
    let [token, one, other] = std::array::from_fn(|_| RandomIds.fresh());
    site.links.create([&token]).await?;

    // Scanners, previews and the person open the page.
    for _ in 0..10 {
        assert_eq!(site.page(&token).await?.0, 200);
    }

    // A server begins and crashes. The link is free again once the lease has lapsed.
    let crashed = site.links.begin(&token, "nobody", CRASHED).await?;
    assert!(matches!(crashed, TokenBegun::Started(_)));

    // Two browsers press the button, five times each and all at once.
    let presses: Vec<_> = (0..10)
        .map(|press| {
            let (site, token, browser) = (site.clone(), token.clone(), [&one, &other][press % 2].clone());
            tokio::spawn(async move { site.pressed(&token, &browser).await })
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
    assert_eq!(site.page(&token).await?.0, 410);
    Ok(())
}
