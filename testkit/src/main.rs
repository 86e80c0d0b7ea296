//! Runs a server for as long as standard input is open: `cargo run -p storagebox-testkit`, with `postgres`, `dynamodb`,
//! `redis`, `nats` or `rabbitmq`.

use std::env;
use std::io;
use std::process::ExitCode;

use storagebox_testkit::{Server, servers};

const KINDS: &str = "`postgres`, `dynamodb`, `redis`, `nats` or `rabbitmq`";

fn main() -> ExitCode {
    let kind = env::args().nth(1);
    let server = match kind.as_deref() {
        None | Some("postgres") => servers::postgres(None),
        Some("dynamodb") => servers::dynamodb(None),
        Some("redis") => servers::redis(None),
        Some("nats") => servers::nats(None),
        Some("rabbitmq") => servers::rabbitmq(None),
        Some(kind) => return failed(&format!("there is no server `{kind}`; it may be {KINDS}")),
    };
    server.map_or_else(|failure| failed(&failure.to_string()), |server| hold(&server))
}

fn hold(server: &Server) -> ExitCode {
    println!("{server}\n{}", server.url());
    // An error of the input is also its end.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    ExitCode::SUCCESS
}

fn failed(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(2)
}
