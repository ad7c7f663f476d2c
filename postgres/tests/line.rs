//! The line against a real server: who it speaks to, what it carries, and when it gives up.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::net::TcpListener;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bursar_postgres::{Cell, Fault, Host, Line, Password, Security, Server, Value};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

#[path = "../../tests/postgres/cluster.rs"]
mod cluster;

use cluster::Cluster;

const PATIENCE: Duration = Duration::from_secs(10);

/// A server with a certificate for `localhost` by an authority of its own, and that authority.
fn secured() -> &'static (Cluster, String) {
    static SECURED: OnceLock<(Cluster, String)> = OnceLock::new();
    SECURED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (authority, certificate, key) = issued("localhost");
        std::fs::write(folder.path().join("server.crt"), certificate).unwrap();
        std::fs::write(folder.path().join("server.key"), key).unwrap();
        (Cluster::start(&[&format!("tls={}", folder.path().display())]), authority)
    })
}

/// An authority, a certificate by it for `name`, and its key, as PEM.
fn issued(name: &str) -> (String, String, String) {
    let mut of_authority = CertificateParams::new(Vec::new()).unwrap();
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(of_authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    (authority.pem(), certificate.pem(), key.serialize_pem())
}

fn server(host: &str, port: u16, security: Security) -> Server {
    Server {
        hosts: vec![(Host::Name(host.to_owned()), port)],
        user: "keeper".to_owned(),
        password: Some(Password::new(b"keeper".to_vec().into())),
        database: "postgres".to_owned(),
        security,
        application: "test".to_owned(),
    }
}

fn at_socket(folder: &Path, port: u16) -> Server {
    Server { hosts: vec![(Host::Socket(folder.to_owned()), port)], ..server("", port, Security::Plain) }
}

/// The server of the tests that want nothing special of one.
fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&[]))
}

fn local() -> Line {
    let cluster = shared();
    Line::open(&at_socket(&cluster.folder, cluster.port), PATIENCE).unwrap()
}

fn lost(opened: Result<Line, Fault>) -> String {
    match opened {
        Err(Fault::Lost { detail }) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_proves_its_name_by_the_authority_that_is_trusted_is_spoken_to_under_tls() {
    let (cluster, authority) = secured();
    let roots = Some(authority.clone().into_bytes());
    let line = Line::open(&server("localhost", cluster.port, Security::Verified { roots }), PATIENCE).unwrap();
    let found = line.query("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]).unwrap();
    assert_eq!(found[0].cell(0), Ok(Cell::Number(1)));
    assert_eq!(found[0].cell(1), Ok(Cell::Text("TLSv1.3")));
}

#[test]
fn a_server_by_another_authority_under_another_name_or_without_tls_hears_no_password() {
    let (cluster, authority) = secured();
    let (stranger, _, _) = issued("localhost");
    let verified = |pem: &str| Security::Verified { roots: Some(pem.as_bytes().to_vec()) };
    let by_another = lost(Line::open(&server("localhost", cluster.port, verified(&stranger)), PATIENCE));
    assert!(by_another.contains("invalid peer certificate"), "{by_another}");
    let public = lost(Line::open(&server("localhost", cluster.port, Security::Verified { roots: None }), PATIENCE));
    assert!(public.contains("UnknownIssuer"), "{public}");
    let other_name = lost(Line::open(&server("127.0.0.1", cluster.port, verified(authority)), PATIENCE));
    assert!(other_name.contains("not valid for name"), "{other_name}");
    let plain = shared();
    let no_tls = lost(Line::open(&server("localhost", plain.port, verified(authority)), PATIENCE));
    assert!(no_tls.contains("TLS"), "{no_tls}");
    let none = Line::open(&server("localhost", cluster.port, verified("no certificate")), PATIENCE);
    assert!(matches!(none, Err(Fault::Authority)), "{none:?}");
}

#[test]
fn a_wrong_password_is_refused_and_never_shown() {
    let cluster = shared();
    let wrong = Password::new(b"not the word".to_vec().into());
    let wrong = Server { password: Some(wrong), ..server("127.0.0.1", cluster.port, Security::Plain) };
    assert!(!format!("{wrong:?} {wrong}").contains("not the word"));
    match Line::open(&wrong, PATIENCE) {
        Err(Fault::Said { state, detail }) => {
            assert_eq!(state.as_str(), "28P01");
            assert!(!detail.contains("not the word"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_several_servers_the_one_that_takes_writes_is_used() {
    let standby = Cluster::start(&["default_transaction_read_only = on"]);
    let master = shared();
    let host = |port| (Host::Name("127.0.0.1".to_owned()), port);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let several = Server {
        hosts: vec![host(nobody), host(standby.port), host(master.port)],
        ..server("", master.port, Security::Plain)
    };
    let line = Line::open(&several, PATIENCE).unwrap();
    let port = line.query("SELECT CAST(current_setting('port') AS bigint)", &[]).unwrap();
    assert_eq!(port[0].cell(0), Ok(Cell::Number(master.port.into())));
    lost(Line::open(&Server { hosts: vec![host(standby.port)], ..several }, PATIENCE));
}

#[test]
fn values_come_back_as_they_went() {
    let line = local();
    line.batch("CREATE TEMPORARY TABLE t (n bigint, s text, b boolean)").unwrap();
    let long = "\u{e9}\u{1f980}'\"\\?$1".repeat(1000);
    for (number, text) in [(0, ""), (i64::MIN, "a?b"), (i64::MAX, &*long)] {
        let values = [Value::Number(number), Value::Text(text), Value::Number(1)];
        assert_eq!(line.execute("INSERT INTO t VALUES (?1, ?2, ?3)", &values), Ok(1));
        let found = line.query("SELECT n, s, b, n IS NULL FROM t WHERE s = ?1", &[Value::Text(text)]).unwrap();
        let cells: Vec<_> = (0..found[0].width()).map(|at| found[0].cell(at).unwrap()).collect();
        assert_eq!(cells, [Cell::Number(number), Cell::Text(text), Cell::Number(1), Cell::Number(0)]);
    }
    assert!(line.execute("INSERT INTO t VALUES (?1, ?1, NULL)", &[Value::Null]).is_err(), "one type a place");
    assert_eq!(line.execute("UPDATE t SET s = ?1", &[Value::Null]), Ok(3));
    let found = line.query("SELECT s FROM t LIMIT 1", &[]).unwrap();
    assert_eq!(found[0].cell(0), Ok(Cell::Null));
    assert!(matches!(line.execute("UPDATE t SET n = ?1", &[Value::Text("1")]), Err(Fault::Kind { .. })));
    assert!(matches!(line.query("SELECT 1.5", &[]).unwrap()[0].cell(0), Err(Fault::Kind { .. })));
    assert!(matches!(line.execute("UPDATE t SET s = ?1", &[Value::Text("a\0b")]), Err(Fault::Said { .. })));
    assert!(!line.is_lost(), "a refusal is no loss");
}

#[test]
fn a_statement_that_takes_too_long_loses_the_line_for_good() {
    let cluster = shared();
    let line = Line::open(&at_socket(&cluster.folder, cluster.port), Duration::from_millis(200)).unwrap();
    let begun = Instant::now();
    assert!(matches!(line.query("SELECT pg_sleep(60)", &[]), Err(Fault::Lost { .. })));
    assert!(begun.elapsed() < PATIENCE);
    assert!(line.is_lost());
    assert!(matches!(line.batch("SELECT 1"), Err(Fault::Lost { .. })), "nobody knows what became of the last one");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let begun = Instant::now();
    lost(Line::open(&server("127.0.0.1", port, Security::Plain), PATIENCE));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_server_that_dies_loses_the_line_and_another_can_be_had_when_it_is_back() {
    let cluster = Cluster::start(&[]);
    let server = at_socket(&cluster.folder, cluster.port);
    let line = Line::open(&server, PATIENCE).unwrap();
    cluster.crash();
    assert!(matches!(line.query("SELECT 1", &[]), Err(Fault::Lost { .. })));
    lost(Line::open(&server, PATIENCE));
    cluster.start_again();
    assert!(line.is_lost(), "and stays so");
    assert!(Line::open(&server, PATIENCE).unwrap().query("SELECT 1", &[]).is_ok());
}
