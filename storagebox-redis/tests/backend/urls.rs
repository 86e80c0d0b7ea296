//! The settings of a store: invalid ones are refused before anything is sent.

use storagebox_redis::RedisStore;
use storagebox_testkit::checks::urls;

#[test]
fn fuzz_url_is_read_or_refused() {
    let known = [
        "redis://ann:hunter2@redis.example.com:6379/3?prefix=a&remember=7d&call_timeout=10s",
        "rediss://[::1]/?wait=1&wait_timeout=1s&remember=forever",
        "redis+cluster://ann:hunter2@one:1,two:2?prefix=a",
        "redis://far?pool=3",
        "rediss+sentinel://one:1,two:2/main?sentinel_user=ann&sentinel_password=hunter2",
    ];
    urls::fuzz(RedisStore::connect, &known);
}
