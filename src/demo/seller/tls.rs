//! A throw-away certificate authority and server certificate for the demo's host names.
//!
//! The authority's key lives in memory only and can vouch for nothing outside `demo.test`.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::world::host;

/// What a buyer has to trust, and what the seller serves with.
pub(crate) struct Papers {
    /// The authority's certificate, PEM.
    pub(crate) ca_pem: String,
    /// TLS settings of the server.
    pub(crate) config: Arc<ServerConfig>,
}

/// Why no certificate could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PapersFault {
    /// The certificate could not be written.
    #[error("the demo seller could not make its certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS settings were refused.
    #[error("the demo seller could not set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl Papers {
    /// Makes fresh papers for every host name of the demo.
    pub(crate) fn issue() -> Result<Self, PapersFault> {
        let issuer_key = KeyPair::generate()?;
        let authority = authority()?;
        let ca_pem = authority.self_signed(&issuer_key)?.pem();
        let issuer = Issuer::new(authority, issuer_key);

        let server_key = KeyPair::generate()?;
        let names: Vec<String> = host::ALL.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names)?.signed_by(&server_key, &issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        Ok(Self { ca_pem, config: Arc::new(config) })
    }
}

fn authority() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.distinguished_name.push(DnType::CommonName, "bursar demo, not for use");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![GeneralSubtree::DnsName("demo.test".to_owned())],
        excluded_subtrees: Vec::new(),
    });
    Ok(params)
}
