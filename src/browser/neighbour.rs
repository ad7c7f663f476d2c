//! Whose process is at the other end of a TCP connection on this machine, as the kernel tells (`/proc/net/tcp`).

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

/// The tables of TCP connections, of which a machine may lack the second one.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The user id of the process that holds the end `theirs` of the connection between `theirs` and `ours`.
///
/// `None` when the kernel does not say: then nobody is known to be there.
pub(crate) fn uid_behind(theirs: SocketAddr, ours: SocketAddr) -> Option<u32> {
    TABLES.iter().filter_map(|table| std::fs::read_to_string(table).ok()).find_map(|table| uid_in(&table, theirs, ours))
}

/// Looks in one table: the columns are number, local end, remote end, state, queues, timer, retransmits, uid.
fn uid_in(table: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<u32> {
    let (theirs, ours) = (spellings(theirs), spellings(ours));
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (local, remote) = (columns.next()?, columns.next()?);
        let meant = theirs.iter().any(|end| end == local) && ours.iter().any(|end| end == remote);
        if meant { columns.nth(4)?.parse().ok() } else { None }
    })
}

/// An end as the tables write it: as it is, and mapped into IPv6 as a socket of both kinds has it.
fn spellings(end: SocketAddr) -> [String; 2] {
    let mapped = match end.ip() {
        IpAddr::V4(ip) => IpAddr::V6(ip.to_ipv6_mapped()),
        IpAddr::V6(ip) => IpAddr::V6(ip),
    };
    [end.ip(), mapped].map(|ip| {
        let mut text = String::new();
        let words: Vec<u32> = match ip {
            IpAddr::V4(ip) => vec![u32::from_ne_bytes(ip.octets())],
            IpAddr::V6(ip) => ip.octets().as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect(),
        };
        for word in words {
            write!(text, "{word:08X}").unwrap_or_default();
        }
        write!(text, ":{:04X}", end.port()).unwrap_or_default();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_vault::guarded::our_uid;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_knows_whose_end_it_is() {
        for address in ["127.0.0.1:0", "[::]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            let ours = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let _theirs = listener.accept().unwrap();
            let (near, far) = (ours.local_addr().unwrap(), ours.peer_addr().unwrap());
            assert_eq!(uid_behind(far, near), Some(our_uid()), "{address}");
            assert_eq!(uid_behind(far, SocketAddr::new(near.ip(), 1)), None);
        }
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_line_of_the_table_is_read_as_the_kernel_writes_it() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:240E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1\n\
             1: 0100007F:240E 0100007F:C822 01 00000000:00000000 00:00000000 00000000  1000        0 2 1\n\
             2: 0100007F:C822 0100007F:240E 01 00000000:00000000 00:00000000 00000000  1002        0 3 1\n";
        let (theirs, ours) = ("127.0.0.1:9230".parse().unwrap(), "127.0.0.1:51234".parse().unwrap());
        assert_eq!(uid_in(table, theirs, ours), Some(1000));
        assert_eq!(uid_in(table, ours, theirs), Some(1002));
        assert_eq!(uid_in("", theirs, ours), None);
    }
}
