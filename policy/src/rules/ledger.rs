//! The address of a database that keeps the ledger in the place of a file. It must never hold a password.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

use crate::text_form::text_form;

/// The port that PostgreSQL has where none is named.
const PORT: u16 = 5432;

/// The most servers of one ledger, of which one at a time takes writes.
const HOSTS_MAX: usize = 8;

/// A database on a PostgreSQL server, as a URI of `libpq` without its password.
///
/// `postgres://ROLE@HOST[:PORT][,HOST[:PORT]…]/DATABASE[?sslrootcert=FILE]`, or for a socket of this machine
/// `postgres://ROLE@[:PORT]/DATABASE?host=/FOLDER`. A server of another machine always has to prove its name (`verify-full`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerAddress {
    text: String,
    role: String,
    hosts: Vec<(LedgerHost, u16)>,
    database: String,
    proof: LedgerProof,
}

/// Where a server of the ledger listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerHost {
    /// A name or an address.
    Name(String),
    /// The folder of a socket.
    Socket(String),
}

/// How a server of the ledger shows that it is the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerProof {
    /// It need not: it is on this machine.
    None,
    /// A certificate for its name by one of the public authorities.
    Public,
    /// A certificate for its name by an authority in this file (PEM): in the profile's folder, or by its absolute path.
    File(String),
}

/// Why a text is no address of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerAddressFault {
    /// Another form.
    #[error("the ledger is written as `postgres://ROLE@HOST/DATABASE`")]
    Form,
    /// A password is in it.
    #[error("no password belongs into the rules; put it into the file `ledger.password` of the profile, mode 0600")]
    Password,
    /// A role, a database or a host with letters that none has.
    #[error("the {what} of the ledger has to be of letters, digits, `_`, `-` and `.` only")]
    Name {
        /// Which.
        what: &'static str,
    },
    /// No port.
    #[error("a port of the ledger is a number from 1 to 65535")]
    Port,
    /// Too many servers.
    #[error("a ledger has at most 8 servers")]
    TooMany,
    /// A setting that is not known, or twice.
    #[error("the ledger knows `host`, `sslmode` and `sslrootcert` after the `?`, each once")]
    Setting,
    /// A mode that proves less.
    #[error("`sslmode` is `verify-full`, or `disable` where every server is on this machine")]
    Mode,
    /// A file that is not named well.
    #[error("`sslrootcert` is a file name in the profile's folder, an absolute path, or `system`")]
    File,
}

impl LedgerAddress {
    /// The role as which a vault comes.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Its servers, at least one.
    #[must_use]
    pub fn hosts(&self) -> &[(LedgerHost, u16)] {
        &self.hosts
    }

    /// Whether it is reached by a socket, whose server knows a process by its user.
    #[must_use]
    pub fn is_by_socket(&self) -> bool {
        self.hosts.iter().all(|(host, _)| matches!(host, LedgerHost::Socket(_)))
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// How a server is known.
    #[must_use]
    pub const fn proof(&self) -> &LedgerProof {
        &self.proof
    }
}

impl fmt::Display for LedgerAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl FromStr for LedgerAddress {
    type Err = LedgerAddressFault;

    fn from_str(text: &str) -> Result<Self, LedgerAddressFault> {
        let rest = text.strip_prefix("postgres://").ok_or(LedgerAddressFault::Form)?;
        let (rest, settings) = rest.split_once('?').map_or((rest, None), |(rest, settings)| (rest, Some(settings)));
        let (place, database) = rest.split_once('/').ok_or(LedgerAddressFault::Form)?;
        let (role, hosts) = place.rsplit_once('@').ok_or(LedgerAddressFault::Form)?;
        if role.contains(':') {
            return Err(LedgerAddressFault::Password);
        }
        let settings = Settings::of(settings)?;
        let hosts = match (hosts, settings.host) {
            (port, Some(folder)) if folder.starts_with('/') && is_path(folder) => {
                let port = match port {
                    "" => PORT,
                    named => self::port(named.strip_prefix(':').ok_or(LedgerAddressFault::Form)?)?,
                };
                [(LedgerHost::Socket(folder.to_string()), port)].into()
            }
            (_, Some(_)) | ("", None) => return Err(LedgerAddressFault::Form),
            (hosts, None) => hosts.split(',').map(host).collect::<Result<Vec<_>, _>>()?,
        };
        if HOSTS_MAX < hosts.len() {
            return Err(LedgerAddressFault::TooMany);
        }
        let proof = settings.proof(hosts.iter().all(|(host, _)| is_here(host)))?;
        let (role, database) = (name("role", role)?, name("database", database)?);
        Ok(Self { text: text.to_string(), role, hosts, database, proof })
    }
}

text_form!(LedgerAddress, "a database as `postgres://ROLE@HOST/DATABASE`");

/// What stands after the `?`.
#[derive(Default)]
struct Settings<'a> {
    host: Option<&'a str>,
    mode: Option<&'a str>,
    authority: Option<&'a str>,
}

impl<'a> Settings<'a> {
    fn of(text: Option<&'a str>) -> Result<Self, LedgerAddressFault> {
        let mut settings = Self::default();
        for setting in text.into_iter().flat_map(|text| text.split('&')) {
            let (key, value) = setting.split_once('=').ok_or(LedgerAddressFault::Setting)?;
            let place = match key {
                "host" => &mut settings.host,
                "sslmode" => &mut settings.mode,
                "sslrootcert" => &mut settings.authority,
                _ => return Err(LedgerAddressFault::Setting),
            };
            if value.is_empty() || place.replace(value).is_some() {
                return Err(LedgerAddressFault::Setting);
            }
        }
        Ok(settings)
    }

    fn proof(&self, on_this_machine: bool) -> Result<LedgerProof, LedgerAddressFault> {
        match (self.mode, self.authority) {
            (None, None) if on_this_machine => Ok(LedgerProof::None),
            (Some("disable"), None) if on_this_machine => Ok(LedgerProof::None),
            (None | Some("verify-full"), None | Some("system")) => Ok(LedgerProof::Public),
            (None | Some("verify-full"), Some(file))
                if is_path(file) && (file.starts_with('/') || !file.contains('/')) =>
            {
                Ok(LedgerProof::File(file.to_string()))
            }
            (None | Some("verify-full"), Some(_)) => Err(LedgerAddressFault::File),
            _ => Err(LedgerAddressFault::Mode),
        }
    }
}

fn host(text: &str) -> Result<(LedgerHost, u16), LedgerAddressFault> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or(LedgerAddressFault::Form)?;
            address.parse::<core::net::Ipv6Addr>().map_err(|_fault| LedgerAddressFault::Name { what: "host" })?;
            (address.to_string(), port.strip_prefix(':'))
        }
        None => {
            let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
            (self::name("host", host)?, port)
        }
    };
    Ok((LedgerHost::Name(name), port.map_or(Ok(PORT), self::port)?))
}

fn port(text: &str) -> Result<u16, LedgerAddressFault> {
    text.parse().ok().filter(|port| *port != 0).ok_or(LedgerAddressFault::Port)
}

fn name(what: &'static str, text: &str) -> Result<String, LedgerAddressFault> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.');
    if text.is_empty() || 253 < text.len() || !text.bytes().all(plain) {
        return Err(LedgerAddressFault::Name { what });
    }
    Ok(text.to_string())
}

/// Letters that need no spelling out in a URI.
fn is_path(text: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.' | b'/');
    !text.starts_with('.') && text.bytes().all(plain)
}

fn is_here(host: &LedgerHost) -> bool {
    match host {
        LedgerHost::Socket(_) => true,
        LedgerHost::Name(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn read(text: &str) -> Result<LedgerAddress, LedgerAddressFault> {
        text.parse()
    }

    #[test]
    fn an_address_is_read_part_by_part_and_told_as_it_was_written() {
        let text = "postgres://bursar@db-1.example.com,db-2.example.com:6432/books?sslrootcert=pg.pem";
        let address = read(text).unwrap();
        let hosts = [("db-1.example.com", 5432), ("db-2.example.com", 6432)];
        assert_eq!(address.hosts(), hosts.map(|(name, port)| (LedgerHost::Name(name.to_string()), port)));
        assert_eq!((address.role(), address.database()), ("bursar", "books"));
        assert_eq!(address.proof(), &LedgerProof::File("pg.pem".to_string()));
        assert_eq!(address.to_string(), text);
    }

    #[test]
    fn a_server_of_another_machine_proves_its_name_and_one_of_this_machine_need_not() {
        for far in ["db.example.com", "10.0.0.7", "[2001:db8::1]:5433", "localhost,db.example.com"] {
            let address = read(&format!("postgres://a@{far}/b")).unwrap();
            assert_eq!(address.proof(), &LedgerProof::Public, "{far}");
            for weaker in ["disable", "allow", "prefer", "require", "verify-ca"] {
                let weaker = read(&format!("postgres://a@{far}/b?sslmode={weaker}"));
                assert_eq!(weaker, Err(LedgerAddressFault::Mode), "{far}");
            }
        }
        for here in ["localhost", "127.0.0.1:5433", "[::1]"] {
            assert_eq!(read(&format!("postgres://a@{here}/b")).unwrap().proof(), &LedgerProof::None, "{here}");
            let asked = read(&format!("postgres://a@{here}/b?sslmode=verify-full")).unwrap();
            assert_eq!(asked.proof(), &LedgerProof::Public, "{here}");
        }
        let socket = read("postgres://a@/b?host=/var/run/postgresql").unwrap();
        assert_eq!(socket.hosts(), [(LedgerHost::Socket("/var/run/postgresql".to_string()), 5432)]);
        let socket = read("postgres://a@:5433/b?host=/run").unwrap();
        assert_eq!(socket.hosts(), [(LedgerHost::Socket("/run".to_string()), 5433)]);
    }

    #[test]
    fn what_is_none_is_refused_with_its_reason() {
        use LedgerAddressFault::{File, Form, Mode, Name, Password, Port, Setting, TooMany};
        for (text, fault) in [
            ("", Form),
            ("postgresql://a@h/b", Form),
            ("postgres://h/b", Form),
            ("postgres://a@h", Form),
            ("postgres://a@/b", Form),
            ("postgres://a@h/b?host=/tmp", Form),
            ("postgres://a:word@h/b", Password),
            ("postgres://@h/b", Name { what: "role" }),
            ("postgres://a b@h/b", Name { what: "role" }),
            ("postgres://a@h/", Name { what: "database" }),
            ("postgres://a@h/b/c", Name { what: "database" }),
            ("postgres://a@h,/b", Name { what: "host" }),
            ("postgres://a@[h]/b", Name { what: "host" }),
            ("postgres://a@h:/b", Port),
            ("postgres://a@h:0/b", Port),
            ("postgres://a@h:65536/b", Port),
            ("postgres://a@h,h,h,h,h,h,h,h,h/b", TooMany),
            ("postgres://a@h/b?", Setting),
            ("postgres://a@h/b?password=x", Setting),
            ("postgres://a@h/b?options=-c", Setting),
            ("postgres://a@h/b?sslmode=verify-full&sslmode=disable", Setting),
            ("postgres://a@localhost/b?sslmode=disable&sslrootcert=x", Mode),
            ("postgres://a@h/b?sslrootcert=../x", File),
            ("postgres://a@h/b?sslrootcert=a/b", File),
        ] {
            assert_eq!(read(text), Err(fault), "{text}");
        }
    }
}
