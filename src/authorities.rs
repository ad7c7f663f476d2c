//! The certificate authorities that the rules name beside the public web's: read from the profile's folder, never
//! from anywhere else, and judged by nobody here.

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
/// Whoever can write such a file can pass for every seller, so it has to be the operator's alone, like every other in
/// the folder.
///
/// # Errors
///
/// [`AuthorityFault`] for the first one that cannot be read.
pub(crate) fn read(rules: &Rules, home: &Path) -> Result<Vec<Vec<u8>>, AuthorityFault> {
    let pem = |file: &str| {
        let read = guarded::read(&home.join(file), BYTES_MAX);
        read.map(|bytes| bytes.to_vec()).map_err(|why| AuthorityFault { file: file.to_owned(), why: why.to_string() })
    };
    rules.ca_file().into_iter().chain(rules.network().extra_ca()).map(pem).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use bursar_policy::{Draft, Setting};

    use super::*;

    fn rules(setting: Setting, more: &str) -> Rules {
        let usdc = "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";
        let text = format!(
            "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\nassets = [\"{usdc}\"]\n\
             allow_any_recipient = true\n{more}"
        );
        Rules::new(toml::from_str::<Draft>(&text).unwrap(), setting).unwrap()
    }

    #[test]
    fn an_extra_authority_is_read_from_a_file_that_is_the_operators_alone() {
        for (setting, named) in [
            (Setting::Real, "[network]\nextra_ca = \"corp.pem\""),
            (Setting::Sandbox, "[network]\nextra_ca = \"corp.pem\""),
            (Setting::Sandbox, "[sandbox]\nca = \"corp.pem\""),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let rules = rules(setting, named);
            assert!(read(&rules, folder.path()).is_err(), "{named}: a missing one is a fault, not nothing");

            let file = folder.path().join("corp.pem");
            std::fs::write(&file, "pem").unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            assert_eq!(read(&rules, folder.path()).unwrap(), [b"pem"]);
            for mode in [0o644, 0o660, 0o606] {
                std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
                assert!(read(&rules, folder.path()).is_err(), "{named}: {mode:o}");
            }
            std::fs::rename(&file, folder.path().join("other.pem")).unwrap();
            symlink(folder.path().join("other.pem"), &file).unwrap();
            assert!(read(&rules, folder.path()).is_err(), "{named}: a link");
        }
    }

    #[test]
    fn both_are_read_where_both_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("own.pem", "sandbox"), ("corp.pem", "network")] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        }
        let both = "[network]\nextra_ca = \"corp.pem\"\n[sandbox]\nca = \"own.pem\"";
        let read_of = |named: &str| read(&rules(Setting::Sandbox, named), folder.path()).unwrap();
        assert_eq!(read_of(both), [b"sandbox", b"network"]);
        assert!(read_of("").is_empty());
    }
}
