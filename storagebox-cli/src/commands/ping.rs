//! `storagebox ping`: whether the store answers, and whether it is set up.

use storagebox::{ErrorKind, Store};

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::message::{Kind, eprint_message};
use crate::step;
use crate::store;
use crate::terminal;

pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::open(global).await?;
    let answer = ping(&store).await;
    store::closed(&store, answer).await?.print(&mut terminal::stdout(global.json), global.json)
}

async fn ping(store: &Store) -> Result<Answer, Failure> {
    let (exit, outcome) = match store::ping(store).await {
        Ok(()) => (Exit::Done, "ready"),
        Err(error) if error.kind() == ErrorKind::NotSetUp => {
            eprint_message(Kind::Note, format_args!("{}", error.message()));
            eprint_message(Kind::Help, format_args!("{}", step::help(&error)));
            (Exit::Nothing, "not_set_up")
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Answer::new(exit).word("backend", store.backend()).word("outcome", outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::faulty::{bare, failing, memory};

    async fn pinged(store: &Store) -> (Exit, String) {
        let mut to = Vec::new();
        let exit = ping(store).await.unwrap().print(&mut to, true).unwrap();
        (exit, String::from_utf8(to).unwrap())
    }

    #[tokio::test]
    async fn a_store_that_is_set_up_is_ready() {
        let ready = "{\"backend\":\"memory\",\"outcome\":\"ready\"}\n";
        assert_eq!(pinged(&memory()).await, (Exit::Done, ready.to_owned()));
    }

    #[tokio::test]
    async fn ping_distinguishes_not_set_up_from_unreachable() {
        let told = "{\"backend\":\"memory\",\"outcome\":\"not_set_up\"}\n";
        assert_eq!(pinged(&bare()).await, (Exit::Nothing, told.to_owned()));
        let gone = ping(&failing(ErrorKind::Unavailable, 1)).await.unwrap_err();
        assert_eq!(gone.exit(), Exit::StoreFailed);
        assert_eq!(gone.to_string(), "cannot reach the store on memory: as the test asked");
    }
}
