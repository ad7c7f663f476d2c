//! The line: one connection to a PostgreSQL server, for code that waits. Knows statements, values and rows; must never
//! know a ledger, nor speak to a server of another machine without TLS that was checked to the end.
//!
//! Whoever opens a [`Line`] owns it alone: there is one thread behind each, its caller's, and nothing goes on between two
//! calls. So there is no pool: a vault has one writer, and whoever only looks opens a line of its own.

pub use self::fault::{Fault, State};
pub use self::line::{Line, quoted};
pub use self::server::{Host, Password, Security, Server};
pub use self::value::{Cell, Row, Value};

mod server;

mod line;
mod tls;
mod value;

mod fault;
