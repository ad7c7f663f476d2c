//! A certificate authority made for one test, and sellers that it did or did not vouch for.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{HandshakeKind, ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::seller::{Act, play};
use crate::net::Tls;

/// An authority and its own certificate as PEM.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// What a TLS seller shows.
pub(super) struct Papers {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    pub(super) fn new() -> Self {
        Self::named("an authority of one test")
    }

    /// An authority with a key of its own, whatever it calls itself.
    pub(super) fn named(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A client configuration that trusts this authority too.
    pub(super) fn trusted(&self) -> Tls {
        Tls::also_trusting([self.pem.as_bytes()]).unwrap()
    }

    /// Papers for `name`, valid from and until the start of these years.
    pub(super) fn vouch(&self, name: &str, from: i32, until: i32) -> Papers {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Papers { chain: vec![certificate.der().clone()], key: PrivateKeyDer::try_from(key.serialize_der()).unwrap() }
    }
}

/// Papers for `name` that nobody vouches for.
pub(super) fn self_signed(name: &str) -> Papers {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    Papers { chain: vec![made.cert.der().clone()], key }
}

impl Papers {
    /// An acceptor that shows these papers and prefers `protocol`.
    pub(super) fn acceptor(self, protocol: &str, versions: &[&'static SupportedProtocolVersion]) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain, self.key)
            .unwrap();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

/// An HTTP/1.1 seller over TLS.
pub(super) struct SecureSeller {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    handshakes: Arc<Mutex<Vec<HandshakeKind>>>,
    names: Arc<Mutex<Vec<Option<String>>>>,
}

impl SecureSeller {
    /// Answers every request with `text` and closes.
    pub(super) async fn saying(acceptor: TlsAcceptor, text: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let handshakes = Arc::new(Mutex::new(Vec::new()));
        let names = Arc::new(Mutex::new(Vec::new()));
        let (seen, shaken, called) = (Arc::clone(&requests), Arc::clone(&handshakes), Arc::clone(&names));
        let acts = [Act::Say(text.as_bytes().to_vec())];
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    shaken.lock().unwrap().extend(stream.get_ref().1.handshake_kind());
                    called.lock().unwrap().push(stream.get_ref().1.server_name().map(str::to_owned));
                    play(&mut stream, &acts, &seen).await;
                }
            }
        });
        Self { port, requests, handshakes, names }
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Everything that was asked of it.
    pub(super) fn heard(&self) -> String {
        self.requests.lock().unwrap().concat()
    }

    /// The `Host` of each request.
    pub(super) fn hosts(&self) -> Vec<String> {
        let host_of =
            |request: &String| request.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
        self.requests.lock().unwrap().iter().filter_map(host_of).collect()
    }

    /// The name that each handshake asked for (SNI).
    pub(super) fn names(&self) -> Vec<Option<String>> {
        self.names.lock().unwrap().clone()
    }

    pub(super) fn handshakes(&self) -> Vec<HandshakeKind> {
        self.handshakes.lock().unwrap().clone()
    }
}
