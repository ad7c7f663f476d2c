//! A certificate authority made for one story, and papers for its sellers. Neither outlives the story.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// An authority's certificate, and an acceptor for the sellers that it vouches for.
pub(crate) struct Papers {
    pub(crate) authority_pem: String,
    pub(crate) acceptor: TlsAcceptor,
}

impl Papers {
    /// Papers for all of `names`.
    pub(crate) fn of(names: Vec<String>) -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { authority_pem, acceptor: TlsAcceptor::from(Arc::new(config)) }
    }
}
