//! The certificate authorities that the rules name beside the public web's: read from the profile's folder, never
//! from anywhere else, and judged by nobody here.

use std::fmt;
use std::path::Path;

use bursar_policy::Rules;
use bursar_vault::guarded;

/// The most bytes of a file of authorities.
const BYTES_MAX: u64 = 1024 * 1024;

/// Why an authority cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the certificate authority `{file}` cannot be read: {why}")]
pub(crate) struct AuthorityFault {
    file: String,
    why: String,
}

/// What `ca` under `[sandbox]` and `extra_ca` under `[network]` hold, as PEM.
///
/// `extra_ca` may stand beside real money, so the file has to be the operator's alone, like every other in the folder.
///
/// # Errors
///
/// [`AuthorityFault`] for the first one that cannot be read.
pub(crate) fn read(rules: &Rules, home: &Path) -> Result<Vec<Vec<u8>>, AuthorityFault> {
    let fault = |file: &str, why: &dyn fmt::Display| AuthorityFault { file: file.to_owned(), why: why.to_string() };
    let mut pems = Vec::new();
    if let Some(file) = rules.ca_file() {
        pems.push(std::fs::read(home.join(file)).map_err(|why| fault(file, &why))?);
    }
    if let Some(file) = rules.network().extra_ca() {
        let read = guarded::read(&home.join(file), BYTES_MAX);
        pems.push(read.map_err(|why| fault(file, &why))?.to_vec());
    }
    Ok(pems)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use bursar_policy::{Draft, Setting};

    use super::*;

    fn rules(more: &str) -> Rules {
        let usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
        let text = format!(
            "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:8453\"]\nassets = [\"{usdc}\"]\n\
             allow_any_recipient = true\n{more}"
        );
        Rules::new(toml::from_str::<Draft>(&text).unwrap(), Setting::Real).unwrap()
    }

    #[test]
    fn an_extra_authority_is_read_from_a_file_that_is_the_operators_alone() {
        let folder = tempfile::tempdir().unwrap();
        let named = rules("[network]\nextra_ca = \"corp.pem\"");
        assert!(read(&named, folder.path()).is_err(), "a missing one is a fault, not nothing");

        let file = folder.path().join("corp.pem");
        std::fs::write(&file, "pem").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&named, folder.path()).unwrap(), [b"pem"]);
        for mode in [0o644, 0o660, 0o606] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert!(read(&named, folder.path()).is_err(), "{mode:o}");
        }
        std::fs::rename(&file, folder.path().join("other.pem")).unwrap();
        symlink(folder.path().join("other.pem"), &file).unwrap();
        assert!(read(&named, folder.path()).is_err(), "a link");
        assert!(read(&rules(""), folder.path()).unwrap().is_empty());
    }
}
