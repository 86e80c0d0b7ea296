//! Article 3's sums, and ours.

use storagebox_core::ErrorKind;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn article(rate: u32, seconds: u32, key: u32) -> WindowPlan {
    WindowPlan::for_rate(rate, SECOND * seconds).in_the_articles_bytes(key)
}

/// "we could stick 400KB / 56 or 7142 updates before the item fills up"
#[test]
fn article_3_56_bytes_are_7142_updates() {
    assert_eq!(article(1, 1, 56).largest_capacity(), 7_142);
}

/// "11 bytes, which amounts to 36000 updates per day or 25 billing updates per minute", in round numbers
#[test]
fn article_3_11_bytes_are_36000_updates_a_day() {
    let updates = article(1, 1, 11).largest_capacity() / 1_000 * 1_000;
    assert_eq!((updates, updates / (24 * 60)), (36_000, 25));
}

/// "8 characters or 50k updates per hour (14 updates per second)", to the nearest
#[test]
fn article_3_8_bytes_are_50000_updates_an_hour() {
    let updates = article(1, 1, 8).largest_capacity();
    assert_eq!((updates, (updates + 1_800) / 3_600), (50_000, 14));
    assert!(article(13, 3_600, 8).fits() && !article(14, 3_600, 8).fits());
}

/// "5 min * 60 seconds * 100 RPS = 30k keys. Luckily that is below our limit"
#[test]
fn article_3_five_minutes_at_100_a_second_are_30000_keys() {
    let plan = article(100, 300, 8);
    assert_eq!(plan.capacity(), 30_000);
    assert!(plan.fits());
}

/// "10 request every second, and you want to save the keys for 10 minutes": "70-byte keys", to the nearest ten. Those
/// that fit have 66 bytes.
#[test]
fn article_3_ten_a_second_for_ten_minutes_are_keys_of_about_70_bytes() {
    let plan = article(10, 600, 66);
    assert_eq!(plan.capacity(), 6_000);
    assert_eq!((plan.largest_entry_bytes(), (plan.largest_entry_bytes() + 5) / 10 * 10), (66, 70));
    assert!(plan.fits() && !article(10, 600, 67).fits());
}

/// "3-byte keys (which happens if we have key lifetime of 1 hour and ~40 RPS)", "144000"
#[test]
fn article_3_an_hour_at_40_a_second_leaves_less_than_3_bytes() {
    let plan = article(40, 3_600, 3);
    assert_eq!(plan.capacity(), 144_000);
    assert_eq!(plan.largest_entry_bytes(), 2);
}

/// "your KeyLifetime * RPS would support 12500 keys. (Or only 42 RPS for 5 minute key LifeTime)", to the nearest: 41
/// fit.
#[test]
fn article_3_32_bytes_are_12500_keys_or_42_a_second() {
    let keys = article(1, 1, 32).largest_capacity();
    assert_eq!((keys, (keys + 150) / 300), (12_500, 42));
    assert!(article(41, 300, 32).fits() && !article(42, 300, 32).fits());
}

/// "an item that is 1KB large has a 1000 RPS, but an Item that is 2KB in size only has a 500 RPS"
#[test]
fn article_3_a_row_of_2_kb_takes_500_writes_a_second() {
    assert_eq!(article(1, 100, 10).writes_per_second(), 1_000);
    assert_eq!(article(1, 200, 10).writes_per_second(), 500);
}

/// "With a 10-Byte KeySize [...] RPS = 100000 / KeyLifeTime": 1,000 RPS for 100 s, 100 RPS for 1,000 s. The article has
/// one key in the row for each second of the lifetime.
#[test]
fn article_3_10_bytes_take_1000_a_second_for_100_s_and_100_for_1000_s() {
    assert_eq!(article(1, 100, 10).writes_per_second(), 1_000);
    assert_eq!(article(1, 1_000, 10).writes_per_second(), 100);
}

/// "KeySizeInBytes = 1000000 / (600 * RPS)", "a hypothetical RPS of 100", "16 Bytes": again one key for each second.
#[test]
fn article_3_600_s_at_100_a_second_are_keys_of_16_bytes() {
    assert_eq!(article(1, 600, 16).writes_per_second(), 100);
    assert!(article(1, 600, 17).writes_per_second() < 100);
}

/// With as many keys in the row as are really made, the article's last example is beyond both bounds.
#[test]
fn with_all_its_keys_the_last_example_is_beyond_both_bounds() {
    let plan = article(100, 600, 16);
    assert_eq!(plan.row_bytes(), 960_000);
    assert!(!plan.fits());
    assert_eq!(plan.writes_per_second(), 1);
}

#[test]
fn our_entries_have_78_bytes() {
    let plan = WindowPlan::for_rate(1, SECOND);
    assert_eq!((plan.largest_capacity(), plan.capacity(), plan.row_bytes()), (5_235, 2, 1_356));
    assert_eq!(plan.longest_lifetime(), SECOND * 5_234);
}

/// With any skew; beyond it there is no room for the next operation.
#[test]
fn the_longest_lifetime_fits_and_a_longer_one_does_not() {
    for (rate, skew) in [(1, 1_000), (7, 0), (94, 1_000), (1_000, 60), (3_000, 1_500)] {
        let plan = |lifetime| WindowPlan::for_rate(rate, lifetime).with_max_skew(Duration::from_millis(skew));
        let longest = plan(SECOND).longest_lifetime();
        assert!(plan(longest).fits(), "{rate}, {skew}: {longest:?}");
        let longer = longest + SECOND / rate + Duration::from_millis(2);
        assert!(!plan(longer).fits(), "{rate}, {skew}: {longer:?}");
    }
}

/// What a window takes beyond its lifetime is what its store is set to, and nothing in the article's own sums.
#[test]
fn an_operation_stays_for_the_skew_too() {
    let plan = WindowPlan::for_rate(10, SECOND * 4);
    assert_eq!(plan.with_max_skew(Duration::ZERO).capacity(), 40);
    assert_eq!(plan.capacity(), 50);
    assert_eq!(plan.with_max_skew(SECOND * 3).capacity(), 70);
    assert_eq!(plan.in_the_articles_bytes(8).capacity(), 40);
}

#[test]
fn a_plan_that_holds_gives_its_strategy() {
    let plan = WindowPlan::for_rate(3, Duration::from_millis(1_500));
    let window = Strategy::Window { lifetime: Duration::from_millis(1_500), capacity: 8 };
    assert_eq!(plan.strategy().unwrap(), window);
}

#[test]
fn a_plan_that_does_not_hold_names_the_bound() {
    for (rate, seconds, bound) in [(100, 600, "5235"), (10, 300, "4 writes"), (u32::MAX, u32::MAX, "5235")] {
        let error = WindowPlan::for_rate(rate, SECOND * seconds).strategy().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(bound), "{error}");
    }
}
