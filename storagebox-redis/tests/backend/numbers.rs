//! Integers of 64 bits in a script, compared with those of Rust.

use fastrand::Rng;
use redis::{Script, cmd};
use storagebox_core::Result;

use crate::scene::with_place;
use crate::support::failed;

const WHOLE: &str = include_str!("../../lua/lib/whole.lua");

/// A script that computes, for each pair of numbers, their sum and whether the first number is less than the second.
const ASK: &str = "
local answer = {}
for i = 1, #ARGV, 2 do
    local high, low = whole(ARGV[i])
    local other_high, other_low = whole(ARGV[i + 1])
    answer[#answer + 1] = in_digits(sum(high, low, other_high, other_low))
    answer[#answer + 1] = is_less(high, low, other_high, other_low) and 'less' or 'not less'
end
return answer";

fn numbers(random: &mut Rng) -> Vec<i64> {
    let edges = [0, 1, 9_999_999_999, 10_000_000_000, 10_000_000_001, 1 << 53, (1 << 53) + 1, i64::MAX];
    let mut numbers: Vec<_> = edges.iter().flat_map(|edge| [*edge, -edge, !edge]).collect();
    numbers.extend((0..60).map(|_| random.i64(..) >> random.u32(0..63)));
    numbers
}

#[test]
fn scripts_add_and_compare_large_numbers_exactly() -> Result<()> {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let numbers = numbers(&mut Rng::with_seed(seed));
    with_place(async |place| {
        let text = format!("{WHOLE}{ASK}");
        for one in &numbers {
            let mut ask = cmd("EVAL");
            ask.arg(&text).arg(0);
            for other in &numbers {
                ask.arg(one).arg(other);
            }
            let answers: Vec<String> = place.server.ask(&ask).await?;
            for (answer, other) in answers.chunks(2).zip(&numbers) {
                let sum = i128::from(*one) + i128::from(*other);
                let order = if one < other { "less" } else { "not less" };
                assert_eq!(answer, [sum.to_string(), order.to_owned()], "{one} and {other}, seed {seed}");
            }
        }
        Ok(())
    })
}

/// A Lua number cannot represent every 64-bit integer.
#[test]
fn a_large_sum_of_plain_lua_numbers_is_inexact() -> Result<()> {
    with_place(async |place| {
        let script = Script::new("return string.format('%.0f', tonumber(ARGV[1]) + tonumber(ARGV[2]))");
        let mut masters = place.server.masters().await?;
        let sum: String = script.arg(1_i64 << 53).arg(1).invoke_async(&mut masters[0]).await.map_err(failed)?;
        assert_eq!(sum, (1_i64 << 53).to_string());
        Ok(())
    })
}
