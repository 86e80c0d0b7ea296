//! Persistent stores for tests: how a test gets one, and how they differ.

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
use std::net::SocketAddr;

use crate::crowd::Crowd;
use crate::support::Place;

/// The store of one test, which is deleted when this value is dropped.
pub(crate) trait Store: Sized {
    /// The name of the backend in answers.
    const BACKEND: &str;
    /// A text that would be executed if it were taken for code.
    const ODD: &str;
    /// URLs that cannot be opened, each with a part of the error text.
    const WRONG_URLS: &[(&str, &str)];
    /// The size of the crowd that `hand-out` serves.
    const CROWD: Crowd = Crowd { items: 1_000, people: 800 };
    /// The number of items that are loaded through a pipe.
    const LOAD: u64 = 12_345;
    /// The number of processes that set the store up at once.
    const SETUPS: usize = 4;

    /// Returns a store that is not set up.
    fn bare() -> Self;

    fn url(&self) -> String;

    /// Returns the note of `ping` on a store that is not set up.
    fn note_of_bare(&self) -> String;

    /// Returns the names of the tables, schemas, keys or files that `conform` left.
    fn left_by_the_suite(&self) -> Vec<String>;

    /// Returns a [`Place`] for commands on the store of this URL, with the credentials of this store.
    fn place_of(&self, url: &str) -> Place {
        Place::new().on(url)
    }

    fn place(&self) -> Place {
        self.place_of(&self.url())
    }

    /// Returns a [`Place`] for commands of a user who may set the store up.
    fn place_of_owner(&self) -> Place {
        self.place()
    }

    fn set_up(self) -> Self {
        self.place_of_owner().run(&["setup"]).exits(0);
        self
    }

    fn ready() -> Self {
        Self::bare().set_up()
    }
}

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
pub(crate) trait Served: Store {
    /// The text of the error when a server does not run.
    const UNREACHED: &str = "the server could not be reached";
    /// The strategies of counters that do not recognise a repeated change.
    const FORGETFUL: &[&str] = &["atomic"];

    /// Returns a [`Place`] for commands on a server at this address, even if no server runs there.
    fn place_at(address: &str) -> Place;

    fn address(&self) -> &str;

    /// Returns a [`Place`] for commands that reach the server by the address `way`.
    fn place_by(&self, way: SocketAddr) -> Place {
        self.place().by(self.address(), way)
    }
}

/// Creates a test of each function on each store in the brackets before the function, as in `tests_on! { [redis
/// sqlite]: records_are_remembered; }`. A filter finds a test by the name of the function or the store.
macro_rules! tests_on {
    ($($stores:tt: $($test:ident),+;)+) => {
        $($(mod $test { $crate::stores::tests_on!(@each $test $stores); })+)+
    };
    (@each $test:ident [$($store:ident)+]) => { $($crate::stores::tests_on!(@$store $test);)+ };
    (@dynamo $test:ident) => { $crate::stores::tests_on!(@one "dynamo" dynamo Table $test); };
    (@postgres $test:ident) => { $crate::stores::tests_on!(@one "postgres" postgres Database $test); };
    (@redis $test:ident) => { $crate::stores::tests_on!(@one "redis" redis Keys $test); };
    (@sqlite $test:ident) => { $crate::stores::tests_on!(@one "sqlite" sqlite File $test); };
    (@one $feature:literal $store:ident $of:ident $test:ident) => {
        #[cfg(feature = $feature)]
        #[test]
        fn $store() {
            super::$test::<crate::$store::$of>();
        }
    };
}

pub(crate) use tests_on;
