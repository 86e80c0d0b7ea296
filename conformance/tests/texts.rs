//! V-2: every text argument of a method of the parts is tried with texts that stores confuse with each other. The lists
//! of public names in `docs/api` define the arguments: a new method or argument without a case fails here.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use storagebox_conformance::{Case, Embedded, Outcome, Profile, Runner, cases};
use storagebox_core::layer::{self, Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{
    Change, ClaimId, Commit, DedupId, EntryId, Fingerprint, Item, Key, Lease, MessageId, OpId, Result, Stamp, TokenId,
    async_trait,
};
use storagebox_memory::MemoryStore;

/// The public names of `storagebox-core`.
const NAMES: &str = include_str!("../../docs/api/storagebox-core.txt");

/// The trait of each part, and the part that a layer sees in calls of the trait.
const TRAITS: [(&str, layer::Part); 8] = [
    ("ItemBank", layer::Part::Bank),
    ("DedupRepo", layer::Part::Records),
    ("LeaseRepo", layer::Part::Leases),
    ("TokenStore", layer::Part::Tokens),
    ("EntityLedger", layer::Part::Entities),
    ("Counter", layer::Part::Counters),
    ("Ledger", layer::Part::Ledger),
    ("OrderedStore", layer::Part::OrderedValues),
];

/// A text argument: the part, the method, and the position in the arguments, such as `Lease.op`.
type Place = (String, String, String);

/// Returns every text argument of the methods in [`NAMES`], except cursors, whose text the store chooses.
fn arguments() -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for (name, part) in TRAITS {
        let prefix = format!("pub fn storagebox_core::{name}::");
        for line in NAMES.lines().filter_map(|line| line.strip_prefix(&prefix)) {
            let (method, rest) = line.split_once(['<', '(']).unwrap();
            // A layer sees an attempt under the name of its call.
            let method = method.trim_start_matches("attempt_");
            let arguments = rest.split_once("self").unwrap().1.split(") ->").next().unwrap();
            for found in types(arguments).into_iter().flat_map(|of| texts(of, of)) {
                places.insert((part.to_string(), method.to_owned(), found));
            }
        }
    }
    places
}

/// Returns the types of the core that occur in a list of arguments.
fn types(arguments: &str) -> Vec<&str> {
    let named = arguments.split("storagebox_core::").skip(1);
    named.map(|name| name.split(|c: char| !c.is_alphanumeric()).next().unwrap()).collect()
}

/// Returns the paths of all texts in a value of the type `of`. Each path begins with `path`.
fn texts(of: &str, path: &str) -> Vec<String> {
    if of == "Cursor" {
        return vec![];
    }
    if NAMES.contains(&format!("pub fn storagebox_core::{of}::as_str(&self)")) {
        return vec![path.to_owned()];
    }
    let prefix = format!("pub storagebox_core::{of}::");
    let fields = NAMES.lines().filter_map(|line| line.strip_prefix(&prefix)?.split_once(": "));
    let inner = fields.flat_map(|(field, of)| types(of).into_iter().map(move |of| (field, of)));
    inner.flat_map(|(field, of)| texts(of, &format!("{path}.{field}"))).collect()
}

/// Records the texts that are passed to calls.
#[derive(Debug, Default)]
struct Given(Mutex<BTreeMap<Place, BTreeSet<String>>>);

#[async_trait]
impl Layer for Given {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        for (path, text) in given(call.request) {
            let place = (call.part.to_string(), call.operation().to_owned(), path.to_owned());
            self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(place).or_default().insert(text);
        }
        next.run().await
    }
}

type Texts<'a> = Vec<(&'static str, &'a str)>;

trait Argument {
    fn texts(&self) -> Texts<'_>;
}

impl<T: Argument> Argument for &T {
    fn texts(&self) -> Texts<'_> {
        (*self).texts()
    }
}

impl<T: Argument> Argument for &[T] {
    fn texts(&self) -> Texts<'_> {
        self.iter().flat_map(Argument::texts).collect()
    }
}

impl<T: Argument> Argument for Option<T> {
    fn texts(&self) -> Texts<'_> {
        self.iter().flat_map(Argument::texts).collect()
    }
}

macro_rules! texts {
    ($($argument:ty: |$value:ident| $($path:literal $text:expr),+;)*) => {$(
        impl Argument for $argument {
            fn texts(&self) -> Texts<'_> {
                let $value = self;
                let mut texts = vec![];
                $(texts.extend($text.into_iter().map(|text| ($path, text.as_str())));)+
                texts
            }
        }
    )*};
}

texts! {
    ClaimId: |id| "ClaimId" [id];
    DedupId: |id| "DedupId" [id];
    Item: |item| "Item" [item];
    Key: |key| "Key" [key];
    MessageId: |id| "MessageId" [id];
    OpId: |op| "OpId" [op];
    TokenId: |token| "TokenId" [token];
    Fingerprint: |print| "Fingerprint" [print];
    Stamp: |stamp| "Stamp.writer" [&stamp.writer];
    Lease: |lease| "Lease.id" [&lease.id], "Lease.op" [&lease.op];
    EntryId: |entry|
        "EntryId.commit" [&entry.commit], "EntryId.key" [&entry.key], "EntryId.message" [&entry.message];
    Change: |change| "Change.op" [&change.op], "Change.reason" &change.reason;
    Commit: |commit|
        "Commit.attempt" [&commit.attempt], "Commit.consume" &commit.consume, "Commit.create" &commit.create,
        "Commit.key" [&commit.key], "Commit.message" [&commit.message];
}

/// Returns the texts of a call, each with its position in the arguments, such as `Lease.op`.
fn given(request: Request<'_>) -> Vec<(&'static str, String)> {
    macro_rules! of {
        ($($name:ident $($arg:ident)+;)*) => {
            match request {
                $(Request::$name { $($arg,)+ .. } => [$(owned($arg.texts())),+].concat(),)*
                _ => vec![],
            }
        };
    }
    of! {
        AddItems items; Take claim; ExtendClaim claim; Confirm claim; Release claim; GetClaim claim; Retire claim;
        GetHolder item; Withdraw items; Restore items;
        Record id op; GetRecord id; Replace id op; Forget id;
        Begin id op fingerprint; Complete lease; Abort lease; ExtendLease lease;
        CreateTokens tokens; TokenExists token; Consume token op; Discard tokens;
        Open key message token; Commit commit; Register entry attempt; Choose entry attempt; Remove entry;
        Apply key change; Cancel key op; GetCounter key;
        ListLog key; Compact key; GetCounterWithin key;
        Put key stamp; Delete key stamp; GetValue key; ListValues prefix; Reset key stamp;
    }
}

fn owned(texts: Texts<'_>) -> Vec<(&'static str, String)> {
    texts.into_iter().map(|(place, text)| (place, text.to_owned())).collect()
}

/// Returns the texts that the cases about texts pass to a store.
fn tried() -> BTreeMap<Place, BTreeSet<String>> {
    let given = Arc::<Given>::default();
    let layer = Arc::clone(&given);
    let harness = Embedded::new("memory", move |clock| {
        let store = MemoryStore::builder().clock(clock).build()?;
        Ok(Layered::new(Arc::new(store), Arc::clone(&layer) as _))
    });
    let runner = Runner::new(harness, Profile::SMOKE).unwrap();
    // The reason of a change is a text of its log, and C-9 is the clause of logs.
    let is_about_texts = |case: &&Case| case.clause() == "V-2" || case.clause() == "C-9";
    for case in cases().iter().filter(is_about_texts) {
        assert!(matches!(runner.run(case, 7), Outcome::Passed), "{case:?}");
    }
    let given = std::mem::take(&mut *given.0.lock().unwrap_or_else(PoisonError::into_inner));
    let mut tried = BTreeMap::<Place, BTreeSet<String>>::new();
    for ((part, method, path), texts) in given {
        // A ledger inherits the calls for changes from counters.
        let is_inherited = part == layer::Part::Ledger.to_string()
            && !NAMES.contains(&format!("pub fn storagebox_core::Ledger::{method}<"));
        let part = if is_inherited { layer::Part::Counters.to_string() } else { part };
        tried.entry((part, method, path)).or_default().extend(texts);
    }
    tried
}

/// Returns the texts that both `take` and `record` were called with.
fn pool(tried: &BTreeMap<Place, BTreeSet<String>>) -> BTreeSet<String> {
    let of = |part: &str, method: &str, path: &str| &tried[&(part.to_owned(), method.to_owned(), path.to_owned())];
    let (claims, ids) = (of("bank", "take", "ClaimId"), of("records", "record", "DedupId"));
    claims.intersection(ids).cloned().collect()
}

#[test]
fn the_cases_try_every_text_argument_of_every_method() {
    let (arguments, tried) = (arguments(), tried());
    assert!(arguments.len() > 45, "{} texts are listed", arguments.len());
    let pool = pool(&tried);
    assert!(pool.len() > 150, "{} texts are tried", pool.len());
    let is_tried = |place: &&Place| tried.get(*place).is_some_and(|texts| texts.is_superset(&pool));
    let untried: Vec<_> = arguments.iter().filter(|place| !is_tried(place)).collect();
    assert!(untried.is_empty(), "no case of V-2 or C-9 tries these texts: {untried:#?}");
}

/// The parser finds a few known text arguments in [`NAMES`], and no payload or cursor.
#[test]
fn the_parser_finds_texts_in_arguments_and_in_their_fields() {
    let found = arguments();
    let has =
        |part: &str, method: &str, path: &str| found.contains(&(part.to_owned(), method.to_owned(), path.to_owned()));
    assert!(has("leases", "begin", "Fingerprint") && has("leases", "complete", "Lease.op"));
    assert!(has("bank", "add", "Item") && has("entities", "commit", "Commit.create"));
    assert!(has("ledger", "log", "Key") && has("counters", "apply", "Change.reason"));
    assert!(!found.iter().any(|(_, _, path)| path.contains("Payload") || path.contains("Cursor")));
}
