//! A listener on a free port of loopback that speaks TLS, for axum's server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::Fault;

/// A certificate and its key, both PEM.
#[derive(Deserialize)]
pub struct Identity {
    certificate: String,
    key: String,
}

/// Accepts connections and greets them. A greeting that fails ends that connection alone; connections are greeted one after
/// another, which the lab's few buyers do not notice.
pub struct Listener {
    sockets: TcpListener,
    greeter: TlsAcceptor,
}

impl Listener {
    /// Listens, as whom `identity` says.
    pub async fn bind(identity: &Identity) -> Result<Self, Fault> {
        let chain = CertificateDer::pem_slice_iter(identity.certificate.as_bytes()).collect::<Result<_, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let sockets = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self { sockets, greeter: TlsAcceptor::from(Arc::new(config)) })
    }

    /// The port that it listens on.
    pub fn port(&self) -> std::io::Result<u16> {
        Ok(self.sockets.local_addr()?.port())
    }
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (socket, peer) = axum::serve::Listener::accept(&mut self.sockets).await;
            match self.greeter.accept(socket).await {
                Ok(stream) => return (stream, peer),
                Err(fault) => eprintln!("a greeting failed: {fault}"),
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.sockets.local_addr()
    }
}
