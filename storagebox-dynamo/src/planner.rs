//! What the counter strategies cost, and whether the operations of a time fit the row that keeps them (the articles'
//! formulas).

mod costs;
mod rows;
mod set;
mod window;

pub use costs::{CounterCost, CounterPlan};
pub use set::SetPlan;
pub use window::WindowPlan;

/// Write units a second that DynamoDB gives to one row, and to one partition.
const UNITS_A_SECOND: u64 = 1_000;
