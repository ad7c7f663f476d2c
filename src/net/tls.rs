//! The one TLS client configuration: by name, TLS 1.2 or later; it can never skip a check.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CipherSuite, ClientConfig, RootCertStore};

/// Which authorities may vouch for a seller. Built once at the start and copied into every exchange.
///
/// No client certificate, no early data, no key log.
#[derive(Clone, Debug)]
pub struct Tls {
    config: ClientConfig,
}

/// Why no TLS configuration could be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The extra authority is not a usable PEM certificate.
    #[error("the extra certificate authority is not a PEM certificate; write it again as PEM")]
    BadAuthority,
    /// The TLS library refused its own parameters.
    #[error("TLS could not be set up; this build is broken, so report it")]
    Unusable,
}

impl Tls {
    /// Trusts the public web's authorities, as compiled in.
    ///
    /// # Errors
    ///
    /// [`TlsFault::Unusable`] when the TLS library refuses its own parameters.
    pub fn public() -> Result<Self, TlsFault> {
        Self::trusting(public_roots())
    }

    /// Trusts the public web's authorities and those in each of `extra_pems`.
    ///
    /// Which of them there may be is for the rules to say: one in a sandbox, and one that a corporate network needs.
    ///
    /// # Errors
    ///
    /// [`TlsFault::BadAuthority`] when one of `extra_pems` holds no certificate or one that cannot be used.
    pub fn also_trusting<'a>(extra_pems: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, TlsFault> {
        let mut roots = public_roots();
        for pem in extra_pems {
            let before = roots.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| TlsFault::BadAuthority)?;
                roots.add(certificate).map_err(|_| TlsFault::BadAuthority)?;
            }
            if roots.len() == before {
                return Err(TlsFault::BadAuthority);
            }
        }
        Self::trusting(roots)
    }

    /// A copy for one exchange. Its session store is its own: the second leg of a purchase may resume the first, but
    /// no purchase ever leans on a certificate that was checked for an earlier one.
    pub(super) fn for_exchange(&self) -> ClientConfig {
        let mut config = self.config.clone();
        config.resumption = Resumption::in_memory_sessions(4);
        config
    }

    fn trusting(roots: RootCertStore) -> Result<Self, TlsFault> {
        let mut provider = rustls::crypto::ring::default_provider();
        // First what processors compute by themselves: SHA-256 in the key schedule, AES with the fewest rounds.
        provider.cipher_suites.sort_by_key(|known| known.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(|_| TlsFault::Unusable)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config })
    }
}

fn public_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}
