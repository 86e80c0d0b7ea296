//! Prints `CLAUSES.md`, or with an argument `DECISIONS.md`: `cargo xtask clauses` writes them.

fn main() {
    match std::env::args().nth(1) {
        None => print!("{}", storagebox_conformance::table()),
        Some(_) => print!("{}", storagebox_conformance::decisions()),
    }
}
