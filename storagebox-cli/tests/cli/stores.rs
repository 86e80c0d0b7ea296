//! The stores that last: how a test gets one, what differs between them, and the list of each test's stores.

#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
use std::net::SocketAddr;

use crate::crowd::Crowd;
use crate::support::Place;

/// A store of one test, which goes with this value.
pub(crate) trait Store: Sized {
    /// The name that answers give to the backend.
    const BACKEND: &str;
    /// A text that does harm where it is taken for code.
    const ODD: &str;
    /// URLs that cannot be opened, each with a part of the reason.
    const WRONG_URLS: &[(&str, &str)];
    /// Who comes for items.
    const CROWD: Crowd = Crowd { items: 1_000, people: 800 };
    /// How many items come through a pipe.
    const LOAD: u64 = 12_345;
    /// How many set the store up at once.
    const SETUPS: usize = 4;

    /// Not set up.
    fn bare() -> Self;

    fn url(&self) -> String;

    /// What `ping` notes of it while it is not set up.
    fn note_of_bare(&self) -> String;

    /// The names of what `conform` made and left.
    fn left_by_the_suite(&self) -> Vec<String>;

    /// Commands on the store of this URL, with the keys that commands on this one have.
    fn place_of(&self, url: &str) -> Place {
        Place::new().on(url)
    }

    /// Commands on it, in a folder of their own.
    fn place(&self) -> Place {
        self.place_of(&self.url())
    }

    /// The same, of somebody who may set it up.
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

/// A store that commands reach over the network.
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
pub(crate) trait Served: Store {
    /// What is said of a server that is not there.
    const UNREACHED: &str = "the server could not be reached";
    /// The strategies of counters that cannot know a change again whose reply was lost.
    const FORGETFUL: &[&str] = &["atomic"];

    /// Commands on a server at this address, perhaps none.
    fn place_at(address: &str) -> Place;

    /// Where the server listens.
    fn address(&self) -> &str;

    /// Commands that reach it by another way.
    fn place_by(&self, way: SocketAddr) -> Place {
        self.place().by(self.address(), way)
    }
}

/// Makes a test of a function for each store of the list before it. A test is named after its function and its store,
/// so that a filter finds both: `tests_on! { [redis sqlite]: records_are_remembered; }`.
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
