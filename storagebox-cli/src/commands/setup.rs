//! `storagebox setup`: creates the schema or the table of the store.

use storagebox::{ErrorKind, Store};

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::store;
use crate::terminal;

pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::open(global).await?;
    let answer = set_up(&store).await;
    store::closed(&store, answer).await?.print(&mut terminal::stdout(global.json), global.json)
}

/// Sets up the store.
async fn set_up(store: &Store) -> Result<Answer, Failure> {
    let before = store::ping(store).await;
    // A store that an older version has set up may lack objects of this version.
    store.setup().await?;
    let outcome = match before {
        Ok(()) => "was_set_up",
        Err(error) if error.kind() == ErrorKind::NotSetUp => "set_up",
        // Whether the store was set up before is unknown.
        Err(_) => "is_set_up",
    };
    Ok(Answer::new(Exit::Done).word("backend", store.backend()).word("outcome", outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::faulty::{bare, failing, memory};

    async fn outcome(store: &Store) -> String {
        let answer = set_up(store).await.unwrap().json();
        answer["outcome"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn setup_shows_whether_the_store_was_set_up_before() {
        assert_eq!(outcome(&memory()).await, "was_set_up");
        let store = bare();
        assert_eq!(outcome(&store).await, "set_up");
        assert_eq!(outcome(&store).await, "was_set_up");
    }

    #[tokio::test(start_paused = true)]
    async fn setup_succeeds_after_a_temporary_fault() {
        assert_eq!(outcome(&failing(ErrorKind::Unavailable, 2)).await, "is_set_up");
    }

    #[tokio::test(start_paused = true)]
    async fn setup_error_names_the_step_and_the_backend() {
        let store = failing(ErrorKind::Unavailable, usize::MAX);
        let failure = set_up(&store).await.unwrap_err();
        assert_eq!(failure.to_string(), "cannot set up the store on memory: as the test asked");
        assert_eq!(failure.exit(), Exit::StoreFailed);
    }

    #[tokio::test]
    async fn setup_that_the_server_denies_is_not_retried() {
        let store = failing(ErrorKind::Denied, 2);
        let failure = set_up(&store).await.unwrap_err();
        assert!(failure.help().contains("may create things"), "{}", failure.help());
    }
}
