//! Checks the example in Python. The test installs the package that the example needs.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use storagebox_driver_checks::{Ordered, Shop, check};
use storagebox_testkit::python;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../psycopg/order.py");

struct Orders {
    python: PathBuf,
    url: String,
}

impl Shop for Orders {
    async fn open(url: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self { python: python::with_psycopg()?, url: url.to_owned() })
    }

    async fn order(&mut self, customer: &str) -> Ordered {
        let output = Command::new(&self.python).args([PROGRAM, &self.url, customer]).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let voucher = String::from_utf8(output.stdout)?.trim().to_owned();
        Ok(Some(voucher).filter(|voucher| !voucher.is_empty()))
    }
}

#[test]
fn an_order_and_its_voucher_are_committed_together() -> Result<(), Box<dyn Error>> {
    check::<Orders>()
}
