//! The start of a run: the banks, the two workers and the possible events.

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// The banks with their initial items.
    pub(crate) stock: &'static [(&'static str, &'static [&'static str])],
    /// The items that may be added to a bank at any moment, as bank and item.
    pub(crate) refills: &'static [(&'static str, &'static str)],
    pub(crate) workers: [Plan; 2],
    /// The bank from which the first worker's id must have its item at the end, or `None` if several banks are possible.
    pub(crate) ends_in: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan {
    /// Assigns an item to `id` from the first of `banks` that is not empty. Repeats a call after an error or a crash.
    Assign { id: &'static str, banks: &'static [&'static str] },
    /// Recovers the records of other workers while the workers run.
    Recover,
}

const fn ada(banks: &'static [&'static str]) -> Plan {
    Plan::Assign { id: "ada", banks }
}

const fn bob(banks: &'static [&'static str]) -> Plan {
    Plan::Assign { id: "bob", banks }
}

pub(crate) const SAME_BANK: Scenario = Scenario {
    name: "one id, one bank with items to spare",
    stock: &[("a", &["a1", "a2"])],
    refills: &[],
    workers: [ada(&["a"]), ada(&["a"])],
    ends_in: Some("a"),
};

pub(crate) const DIFFERENT_BANKS: Scenario = Scenario {
    name: "one id, each worker asks another bank",
    stock: &[("a", &["a1"]), ("b", &["b1"])],
    refills: &[],
    workers: [ada(&["a"]), ada(&["b"])],
    ends_in: None,
};

pub(crate) const LAST_ITEM: Scenario = Scenario {
    name: "two ids, one item",
    stock: &[("a", &["a1"])],
    refills: &[],
    workers: [ada(&["a"]), bob(&["a"])],
    ends_in: None,
};

pub(crate) const SECOND_CHOICE: Scenario = Scenario {
    name: "one id, an empty bank, then another",
    stock: &[("a", &[]), ("b", &["b1"])],
    refills: &[],
    workers: [ada(&["a", "b"]), ada(&["a", "b"])],
    ends_in: Some("b"),
};

pub(crate) const REFILL: Scenario = Scenario {
    name: "one id, an empty bank that is refilled",
    stock: &[("a", &[])],
    refills: &[("a", "a1")],
    workers: [ada(&["a"]), ada(&["a"])],
    ends_in: None,
};

pub(crate) const REFILL_AND_AGAIN: Scenario = Scenario {
    name: "one id, an empty bank that is refilled, asked again",
    stock: &[("a", &[])],
    refills: &[("a", "a1")],
    workers: [ada(&["a", "a"]), ada(&["a", "a"])],
    ends_in: None,
};

pub(crate) const CROSSED_CHOICES: Scenario = Scenario {
    name: "one id, two empty banks in either order, one refilled",
    stock: &[("a", &[]), ("b", &[])],
    refills: &[("a", "a1")],
    workers: [ada(&["a", "b"]), ada(&["b", "a"])],
    ends_in: None,
};

pub(crate) const TWO_IDS_REFILL: Scenario = Scenario {
    name: "two ids, an empty bank that is refilled, another with one item",
    stock: &[("a", &[]), ("b", &["b1"])],
    refills: &[("a", "a1")],
    workers: [ada(&["a", "b"]), bob(&["a", "b"])],
    ends_in: None,
};

pub(crate) const RECOVERY_BESIDE: Scenario = Scenario {
    name: "a recovery beside a live caller",
    stock: &[("a", &[]), ("b", &["b1"])],
    refills: &[("a", "a1")],
    workers: [ada(&["a", "b"]), Plan::Recover],
    ends_in: None,
};
