//! One case: a function, the clause that it checks, and its family.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;

use crate::failure::{Failure, Verdict};
use crate::harness::Declared;
use crate::kind::Kind;
use crate::part::{Family, Part};
use crate::world::World;

type Running<'a> = Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// A case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    row: &'static Row,
    run: Run,
}

#[derive(Clone, Copy)]
enum Run {
    Once(for<'a> fn(&'a World) -> Running<'a>),
    /// A case that runs with one counter strategy. The optional text replaces the default name of the case.
    By(Kind, Option<&'static str>, for<'a> fn(&'a World, Kind) -> Running<'a>),
}

/// An entry in the case list of a part: one case, or one case per counter strategy.
pub(crate) struct Row {
    pub(crate) part: Part,
    pub(crate) clause: &'static str,
    pub(crate) family: Family,
    /// The other parts of a store that the case uses.
    pub(crate) needs: &'static [Part],
    /// The conditions under which the verdict of the case is valid.
    pub(crate) bases: &'static [Basis],
    pub(crate) module: &'static str,
    pub(crate) function: &'static str,
    pub(crate) check: Check,
}

/// A condition that a case needs for a valid verdict, and that not every harness meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Every call is answered: no request and no reply is lost.
    Answers,
    /// The suite can move the clock. On another clock, the case would wait for days or would check nothing.
    Clock,
}

pub(crate) enum Check {
    Once(for<'a> fn(&'a World) -> Running<'a>),
    By(&'static [(Kind, Option<&'static str>)], for<'a> fn(&'a World, Kind) -> Running<'a>),
}

impl Row {
    pub(crate) fn cases(&'static self) -> Vec<Case> {
        match self.check {
            Check::Once(run) => vec![Case { row: self, run: Run::Once(run) }],
            Check::By(kinds, run) => {
                kinds.iter().map(|(kind, name)| Case { row: self, run: Run::By(*kind, *name, run) }).collect()
            }
        }
    }
}

impl Case {
    /// Returns the part that the case tests.
    pub fn part(&self) -> Part {
        self.row.part
    }

    /// Returns the clause that the case checks, such as `IB-3`.
    pub fn clause(&self) -> &'static str {
        self.row.clause
    }

    /// Returns the family of the case.
    pub fn family(&self) -> Family {
        self.row.family
    }

    /// Returns the parts that the case uses besides the part that it tests. The case is ignored if the backend leaves
    /// out one of these parts.
    pub(crate) fn needs(&self) -> &'static [Part] {
        match self.part() {
            Part::Deduplicator => &[Part::ItemBank, Part::Dedup],
            Part::Strategies => &[Part::Counter],
            Part::JoinedEntities => &[Part::Entities, Part::Tokens],
            _ => self.row.needs,
        }
    }

    /// Returns the full name, such as `item_bank::IB-3::same_claim_same_item`.
    pub fn name(&self) -> String {
        format!("{}::{}::{}", self.part().name(), self.clause(), self.short_name())
    }

    /// Returns the name of the case without its part and its clause.
    fn short_name(&self) -> String {
        match self.run {
            Run::Once(_) => self.row.function.to_owned(),
            Run::By(_, Some(name), _) => name.to_owned(),
            Run::By(kind, None, _) => format!("{}_{}", kind.name(), self.row.function),
        }
    }

    /// Returns a sort key by which cases with readable failures come first.
    pub(crate) fn plainness(&self) -> (Family, bool) {
        // Failures of decision tables and of random sequences of calls are harder to read.
        let has_many_calls = ["model", "decisions"].iter().any(|module| self.row.module.ends_with(module));
        let family = if self.family() == Family::Edge { Family::Sequential } else { self.family() };
        (family, has_many_calls)
    }

    /// Returns whether the verdict is valid only if every call is answered. By contract, a call that is repeated after
    /// a lost answer may count again, or its answer may say less than the first answer.
    pub fn needs_each_answer(&self) -> bool {
        let by = |kind: Kind| kind.counts_again(self.family());
        self.rests_on(Basis::Answers) || matches!(self.run, Run::By(kind, ..) if by(kind))
    }

    pub(crate) fn rests_on(&self, basis: Basis) -> bool {
        self.row.bases.contains(&basis)
    }

    /// Returns the reason why the case cannot be run on a backend with these declarations, or `None`.
    pub(crate) fn ignored_by(&self, declared: &Declared) -> Option<String> {
        let parts = [self.part()].into_iter().chain(self.needs().iter().copied());
        declared.lacks(parts, self.family(), self.needs_each_answer())
    }

    /// Runs the case.
    ///
    /// # Cancel safety
    ///
    /// Safe: the sandbox is removed with the world.
    ///
    /// # Errors
    ///
    /// Returns why the case failed.
    pub async fn run(&self, world: &World) -> Result<(), Failure> {
        match self.run {
            Run::Once(run) => run(world).await,
            Run::By(kind, _, run) => run(world, kind).await,
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

pub(crate) fn not_built<'a>() -> Running<'a> {
    Box::pin(ready(Err(Failure::new("the tests of the suite's library run no cases"))))
}

/// Lists the cases of a part. A line has the clause, the family, the module and the functions of the cases:
/// `"IB-5" Edge edge: duplicates_in_one_call_count_once;`. Each function is an `async fn(&World) -> Verdict`.
///
/// `"V-3" Edge [Ordered] bytes: ordered_bytes_come_back;` runs only on stores that have the part `Ordered`; `[..]`
/// stands for all parts. `@Answers` or `@Clock` before the module is the `Basis` of the verdict:
/// `"IB-7" Sequential @Answers reuse: ..;`.
///
/// `value_is_the_sum [Atomic, Marker]` declares two cases of one `async fn(&World, Kind) -> Verdict`:
/// `atomic_value_is_the_sum` and `marker_value_is_the_sum`. `[Window as a_full_window_is_full]` gives the case another
/// name.
macro_rules! cases {
    ($part:ident: $(
        $clause:literal $family:ident $([$($needs:tt)+])? $(@$basis:ident)* $($module:ident)::+:
            $($function:ident $([$($kind:ident $(as $name:ident)?),+])?),+;
    )*) => {
        pub(crate) const CASES: &[&[$crate::case::Row]] = &[$({
            use $($module)::+ as module;
            const NEEDS: &[$crate::part::Part] = $crate::case::needs!($($($needs)+)?);
            const BASES: &[$crate::case::Basis] = &[$($crate::case::Basis::$basis),*];
            const MODULE: &str = stringify!($($module)::+);
            &[$(
                $crate::case::Row {
                    part: $crate::part::Part::$part,
                    clause: $clause,
                    family: $crate::part::Family::$family,
                    needs: NEEDS,
                    bases: BASES,
                    module: MODULE,
                    function: stringify!($function),
                    check: $crate::case::check!(module::$function $([$($kind $($name)?),+])?),
                },
            )+]
        },)*];
    };
}

macro_rules! needs {
    () => {
        &[]
    };
    (..) => {
        $crate::part::Part::STORED
    };
    ($($part:ident),+) => {
        &[$($crate::part::Part::$part),+]
    };
}

// The tests of this library need only the names of the cases. Leaving out the futures saves compiling them twice.
macro_rules! check {
    ($check:path) => {
        $crate::case::Check::Once(if cfg!(test) {
            |_| $crate::case::not_built()
        } else {
            |world| Box::pin($check(world))
        })
    };
    ($check:path [$($kind:ident $($name:ident)?),+]) => {
        $crate::case::Check::By(
            &[$(($crate::kind::Kind::$kind, $crate::case::name!($($name)?))),+],
            if cfg!(test) { |_, _| $crate::case::not_built() } else { |world, kind| Box::pin($check(world, kind)) },
        )
    };
}

macro_rules! name {
    () => {
        None
    };
    ($name:ident) => {
        Some(stringify!($name))
    };
}

pub(crate) use {cases, check, name, needs};
