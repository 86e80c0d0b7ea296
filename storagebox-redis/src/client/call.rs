//! A call of a script.

use std::fmt;

use redis::{Cmd, RedisWrite, ToRedisArgs, cmd};

use crate::script::{Edition, Script};

/// A call of a script. All keys of the script begin with `key` or with a key in `joined`.
#[derive(Clone)]
pub(crate) struct ScriptCall<'a> {
    script: &'static Script,
    key: &'a str,
    /// The keys of other namespaces that the script uses, without duplicates.
    joined: Vec<&'a str>,
    arguments: Vec<Argument<'a>>,
    /// The epoch that the namespace must have, sent as the last argument. `None` if the call uses no namespace.
    epoch: Option<&'a str>,
    traffic: Traffic,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Traffic {
    #[default]
    Calls,
    /// The connection for large calls. Ordinary calls do not wait behind a large call.
    Bulk,
}

/// An argument of a script.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a> {
    Bytes(&'a [u8]),
    Signed(i64),
    Unsigned(u64),
}

impl ToRedisArgs for Argument<'_> {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        match self {
            Self::Bytes(bytes) => bytes.write_redis_args(out),
            Self::Signed(number) => number.write_redis_args(out),
            Self::Unsigned(number) => number.write_redis_args(out),
        }
    }
}

impl<'a> ScriptCall<'a> {
    pub(crate) fn new(script: &'static Script, key: &'a str) -> Self {
        let (joined, arguments) = (Vec::new(), Vec::with_capacity(8));
        Self { script, key, joined, arguments, epoch: None, traffic: Traffic::Calls }
    }

    /// Adds the key of another namespace that the script uses.
    pub(crate) fn joining(mut self, key: &'a str) -> Self {
        if !self.joined.contains(&key) {
            self.joined.push(key);
        }
        self
    }

    /// Selects the connection for large calls.
    pub(crate) fn in_bulk(mut self) -> Self {
        self.traffic = Traffic::Bulk;
        self
    }

    /// Makes the script fail if the namespace has another epoch.
    pub(crate) fn in_epoch(mut self, epoch: &'a str) -> Self {
        self.epoch = Some(epoch);
        self
    }

    pub(crate) fn with(mut self, argument: impl IntoArgument<'a>) -> Self {
        self.arguments.push(argument.into_argument());
        self
    }

    pub(crate) fn with_all(mut self, arguments: &[&'a str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| argument.into_argument()));
        self
    }

    pub(crate) fn script(&self) -> &'static Script {
        self.script
    }

    pub(super) fn key(&self) -> &str {
        self.key
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic
    }

    pub(super) fn by_hash(&self, edition: Edition) -> Cmd {
        self.command("EVALSHA", &self.script.hash(edition))
    }

    /// Returns the command that sends the text of the script. Afterwards the server knows the script by its hash.
    pub(super) fn by_text(&self, edition: Edition) -> Cmd {
        self.command("EVAL", &self.script.text(edition))
    }

    fn command(&self, name: &'static str, script: &str) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(1 + self.joined.len()).arg(self.key).arg(&self.joined);
        for argument in &self.arguments {
            command.arg(argument);
        }
        command.arg(self.epoch);
        command
    }
}

/// A value that a script can take as an argument. A script sees `None` as an empty text.
pub(crate) trait IntoArgument<'a> {
    fn into_argument(self) -> Argument<'a>;
}

impl<'a> IntoArgument<'a> for &'a str {
    fn into_argument(self) -> Argument<'a> {
        Argument::Bytes(self.as_bytes())
    }
}

impl<'a> IntoArgument<'a> for &&'a str {
    fn into_argument(self) -> Argument<'a> {
        Argument::Bytes(self.as_bytes())
    }
}

impl<'a> IntoArgument<'a> for &'a [u8] {
    fn into_argument(self) -> Argument<'a> {
        Argument::Bytes(self)
    }
}

impl<'a> IntoArgument<'a> for bool {
    fn into_argument(self) -> Argument<'a> {
        Argument::Bytes(if self { b"1" } else { b"" })
    }
}

impl<'a, T: IntoArgument<'a>> IntoArgument<'a> for Option<T> {
    fn into_argument(self) -> Argument<'a> {
        self.map_or(Argument::Bytes(b""), T::into_argument)
    }
}

macro_rules! numbers {
    ($($number:ty => $argument:ident;)*) => {$(
        impl<'a> IntoArgument<'a> for $number {
            fn into_argument(self) -> Argument<'a> {
                Argument::$argument(self as _)
            }
        }
    )*};
}

numbers! {
    i64 => Signed;
    u16 => Unsigned;
    u32 => Unsigned;
    u64 => Unsigned;
    usize => Unsigned;
}

/// Leaves out the arguments, because they may contain items.
impl fmt::Debug for ScriptCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptCall").field("script", &self.script.name()).finish_non_exhaustive()
    }
}
