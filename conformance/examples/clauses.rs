//! Prints `CLAUSES.md`: `cargo xtask clauses` writes it.

fn main() {
    print!("{}", storagebox_conformance::table());
}
