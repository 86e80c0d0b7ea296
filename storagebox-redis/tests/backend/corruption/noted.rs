//! A snapshot that the server itself keeps. One step finds and undoes all changes since the snapshot. The tests make
//! tens of thousands of steps, and each further step would wait for the server's turn.

use redis::aio::MultiplexedConnection as Admin;
use redis::{Script, cmd};
use storagebox_core::Result;

use crate::support::failed;

/// A script that stores the server's dump of each key that matches a pattern.
const NOTE: &str = "
redis.call('DEL', KEYS[1])
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
    redis.call('HSET', KEYS[1], key, redis.call('DUMP', key))
end";

/// A script that restores the keys that differ from the stored dump, and returns their names.
const PUT_BACK: &str = "
local changed, gone, noted = {}, {}, redis.call('HGETALL', KEYS[1])
for i = 1, #noted, 2 do
    gone[noted[i]] = noted[i + 1]
end
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
    local dump = gone[key]
    gone[key] = nil
    if redis.call('DUMP', key) ~= dump then
        changed[#changed + 1] = key
        redis.call('DEL', key)
        if dump then
            redis.call('RESTORE', key, 0, dump)
        end
    end
end
for key, dump in pairs(gone) do
    changed[#changed + 1] = key
    redis.call('RESTORE', key, 0, dump)
end
return changed";

/// A snapshot of all keys of a prefix, stored in a key outside the prefix.
pub(super) struct Noted {
    key: String,
    keys: String,
    put_back: Script,
}

impl Noted {
    /// Takes a snapshot of the keys of this prefix, in place of an earlier snapshot with this name.
    pub(super) async fn now(admin: &mut Admin, name: &str, prefix: &str) -> Result<Self> {
        let noted = Self { key: format!("noted:{name}"), keys: format!("{prefix}:*"), put_back: Script::new(PUT_BACK) };
        let note = cmd("EVAL").arg(NOTE).arg(1).arg(&noted.key).arg(&noted.keys).exec_async(admin).await;
        note.map(|()| noted).map_err(failed)
    }

    /// Restores the snapshot, and returns the keys that had changed.
    pub(super) async fn put_back(&self, admin: &mut Admin) -> Result<Vec<String>> {
        self.put_back.key(&self.key).arg(&self.keys).invoke_async(admin).await.map_err(failed)
    }
}
