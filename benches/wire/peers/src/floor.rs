//! What no guarded purchase can go below: two requests over connections of their own, a durable commit, a signature.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use alloy_signer::SignerSync as _;
use alloy_signer_local::PrivateKeySigner;
use rusqlite::Connection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::{Fault, ms_since};

/// The seller, asked without a word of payment.
pub struct Seller {
    port: u16,
    roots: Arc<RootCertStore>,
}

impl Seller {
    /// The seller on `port` of loopback, vouched for by `authority` (PEM).
    pub fn new(port: u16, authority: &[u8]) -> Result<Self, Fault> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority)?)?;
        Ok(Self { port, roots: Arc::new(roots) })
    }

    /// Two bare requests, each over a connection of its own, the second one with a resumed handshake.
    pub async fn legs(&self, count: usize) -> Result<Vec<f64>, Fault> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(Arc::clone(&self.roots))
            .with_no_client_auth();
        let mut took = Vec::with_capacity(count);
        for _ in 0..count {
            let begun = Instant::now();
            // A session store of its own, as for each purchase of bursar.
            let mut config = config.clone();
            config.resumption = tokio_rustls::rustls::client::Resumption::in_memory_sessions(4);
            let connector = TlsConnector::from(Arc::new(config));
            for _ in 0..2 {
                let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await?;
                stream.set_nodelay(true)?;
                let mut line = connector.connect(ServerName::try_from("shop.test")?, stream).await?;
                line.write_all(b"GET /item/bare HTTP/1.1\r\nhost: shop.test\r\n\r\n").await?;
                let mut block = [0; 4096];
                if line.read(&mut block).await? == 0 {
                    return Err("the seller hung up".into());
                }
            }
            took.push(ms_since(begun));
        }
        Ok(took)
    }
}

/// A table with the ledger's durability.
pub struct Ledger {
    conn: Connection,
}

impl Ledger {
    /// A new database in `folder`.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Fault> {
        let conn = Connection::open(folder.as_ref().join("floor.db"))?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.execute_batch("CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)")?;
        Ok(Self { conn })
    }

    /// Transactions of one row, each on the disk before the next.
    pub fn commit(&mut self, count: usize) -> Result<Vec<f64>, Fault> {
        let text = "x".repeat(500);
        (0..count)
            .map(|_| {
                let begun = Instant::now();
                self.conn.prepare_cached("INSERT INTO row (text) VALUES (?1)")?.execute([&text])?;
                Ok(ms_since(begun))
            })
            .collect()
    }
}

/// Signatures of one digest on secp256k1.
pub fn sign(count: usize) -> Result<Vec<f64>, Fault> {
    let key = PrivateKeySigner::random();
    (0..count)
        .map(|_| {
            let begun = Instant::now();
            std::hint::black_box(key.sign_hash_sync(&[7; 32].into())?);
            Ok(ms_since(begun))
        })
        .collect()
}
