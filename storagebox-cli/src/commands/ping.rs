//! `storagebox ping`: whether the store answers, and whether it is set up.

use storagebox::{ErrorKind, parts::Backend};

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::say::{Kind, say};
use crate::step::Step;
use crate::store;
use crate::terminal;

pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::open(global).await?;
    let answer = ping(&*store).await;
    store::closed(&*store, answer).await?.print(&mut terminal::stdout(global.json), global.json)
}

/// Asks once: whether it answers now is the question.
async fn ping(store: &dyn Backend) -> Result<Answer, Failure> {
    let (exit, outcome) = match store.ping().await {
        Ok(()) => (Exit::Done, "ready"),
        Err(error) if error.kind() == ErrorKind::NotSetUp => {
            say(Kind::Note, format_args!("{}", error.message()));
            say(Kind::Help, format_args!("{}", Step::Ping.help(&error)));
            (Exit::Nothing, "not_set_up")
        }
        Err(error) => return Err(Step::Ping.failed(error)),
    };
    Ok(Answer::new(exit).word("backend", store.backend()).word("outcome", outcome))
}

#[cfg(test)]
mod tests {
    use storagebox::MemoryStore;

    use super::*;
    use crate::commands::faulty::FaultyStore;

    async fn pinged(store: &dyn Backend) -> (Exit, String) {
        let mut to = Vec::new();
        let exit = ping(store).await.unwrap().print(&mut to, true).unwrap();
        (exit, String::from_utf8(to).unwrap())
    }

    #[tokio::test]
    async fn a_store_that_is_set_up_is_ready() {
        let ready = "{\"backend\":\"memory\",\"outcome\":\"ready\"}\n";
        assert_eq!(pinged(&MemoryStore::new()).await, (Exit::Done, ready.to_owned()));
    }

    #[tokio::test]
    async fn not_set_up_is_told_apart_from_not_there() {
        let bare = "{\"backend\":\"memory\",\"outcome\":\"not_set_up\"}\n";
        assert_eq!(pinged(&FaultyStore::bare()).await, (Exit::Nothing, bare.to_owned()));
        let gone = ping(&FaultyStore::failing(ErrorKind::Unavailable, 1)).await.unwrap_err().on("memory");
        assert_eq!(gone.exit(), Exit::StoreFailed);
        assert_eq!(gone.to_string(), "cannot reach the store on memory: as the test asked");
    }
}
