//! The sample data: voucher codes, and subscriptions. Some people have several subscriptions.

use std::collections::HashSet;

pub(crate) const DEFAULT_SEED: u64 = 20_260_101;
pub(crate) const CODES: usize = 10_000;
pub(crate) const PEOPLE: usize = 8_000;
pub(crate) const SUBSCRIPTIONS: usize = 30_000;

const CAMPAIGNS: [&str; 6] = ["SPRING10", "SUMMER15", "WELCOME", "FRIENDS", "SAVE20", "THANKYOU"];
/// The characters of codes. Characters that look like another character, such as 0 and O, are left out.
const CODE_LETTERS: &[u8; 24] = b"ACDEFGHJKMNPQRTVWXY34679";

const FIRST_NAMES: [&str; 32] = [
    "ada", "alan", "amara", "anna", "barbara", "chen", "dana", "donald", "edsger", "elif", "fatima", "grace", "hana",
    "ivan", "jose", "juan", "kofi", "leslie", "lin", "maria", "mei", "nadia", "niklaus", "noor", "olga", "pedro",
    "priya", "radia", "sofia", "tim", "yuki", "zoe",
];
const LAST_NAMES: [&str; 32] = [
    "almeida", "bauer", "chandra", "diallo", "eriksson", "fischer", "garcia", "haddad", "ito", "jansen", "kaya",
    "kowalska", "lamport", "liskov", "lopez", "mbeki", "moreau", "nakamura", "nguyen", "okafor", "olsen", "perlman",
    "petrov", "rossi", "sato", "silva", "tanaka", "turing", "wang", "weber", "yilmaz", "zhang",
];
const DOMAINS: [&str; 4] = ["example.com", "example.net", "example.org", "mail.example"];

/// Returns one code per line. All codes are different.
pub(crate) fn codes(seed: u64) -> String {
    let mut random = Random(seed);
    lines(&distinct(CODES, || code(&mut random)))
}

/// Returns one subscription per line, in random order. Each person has at least one subscription, and a few have very
/// many.
pub(crate) fn subscribers(seed: u64) -> String {
    let mut random = Random(seed ^ u64::MAX);
    let people = distinct(PEOPLE, || person(&mut random));
    let mut subscriptions = people.clone();
    while subscriptions.len() < SUBSCRIPTIONS {
        subscriptions.push(people[random.skewed(PEOPLE)].clone());
    }
    random.shuffle(&mut subscriptions);
    lines(&subscriptions)
}

fn code(random: &mut Random) -> String {
    let campaign = CAMPAIGNS[random.below(CAMPAIGNS.len())];
    let [first, second] = [(); 2].map(|()| block(random));
    format!("{campaign}-{first}-{second}")
}

fn block(random: &mut Random) -> String {
    (0..4).map(|_| char::from(CODE_LETTERS[random.below(CODE_LETTERS.len())])).collect()
}

fn person(random: &mut Random) -> String {
    let first = FIRST_NAMES[random.below(FIRST_NAMES.len())];
    let last = LAST_NAMES[random.below(LAST_NAMES.len())];
    let domain = DOMAINS[random.below(DOMAINS.len())];
    match random.below(100) {
        number @ 1.. => format!("{first}.{last}{number}@{domain}"),
        0 => format!("{first}.{last}@{domain}"),
    }
}

fn distinct(count: usize, mut make: impl FnMut() -> String) -> Vec<String> {
    let mut seen = HashSet::with_capacity(count);
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let one = make();
        if seen.insert(one.clone()) {
            all.push(one);
        }
    }
    all
}

fn lines(all: &[String]) -> String {
    all.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The random number generator SplitMix64, whose numbers are the same on every machine and with every version of a
/// crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `end`.
    fn below(&mut self, end: usize) -> usize {
        // The bias is too small to matter for sample data.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Returns a random number below `end`. Small numbers are much more frequent.
    fn skewed(&mut self, end: usize) -> usize {
        // Integers avoid rounding differences between machines.
        let wide = self.below(end);
        let narrow = self.below(wide + 1);
        self.below(narrow + 1)
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}
