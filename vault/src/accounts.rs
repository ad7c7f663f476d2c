//! The account database: on Linux a file, elsewhere what the system's own library asks. Must never ask a variable of the
//! environment who somebody is.

#[cfg(target_os = "linux")]
pub(crate) use self::file::Accounts;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use self::library::Accounts;

#[cfg(windows)]
pub(crate) use crate::platform::Accounts;

/// Where it is, in words for people.
pub(crate) const ACCOUNTS: &str = "/etc/passwd";

#[cfg(target_os = "linux")]
mod file {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    const ACCOUNTS_MAX_BYTES: u64 = 16 * 1024 * 1024;

    /// Every account, as one text of lines `name:password:uid:gid:gecos:home:shell`.
    pub(crate) struct Accounts(Vec<u8>);

    impl Accounts {
        /// Reads the database.
        pub(crate) fn read() -> io::Result<Self> {
            let mut bytes = Vec::new();
            File::open(super::ACCOUNTS).and_then(|file| file.take(ACCOUNTS_MAX_BYTES).read_to_end(&mut bytes))?;
            Ok(Self(bytes))
        }

        /// The home directory of `uid`, where it is a whole path.
        pub(crate) fn home_of(&self, uid: u32) -> Option<PathBuf> {
            let wanted = uid.to_string();
            self.lines().find_map(|line| {
                let mut fields = line.split(|byte| *byte == b':');
                let theirs = fields.nth(2)?;
                let home = fields.nth(2)?;
                (theirs == wanted.as_bytes() && home.first() == Some(&b'/'))
                    .then(|| PathBuf::from(OsStr::from_bytes(home)))
            })
        }

        /// The user id of the account called `name`.
        pub(crate) fn uid_of(&self, name: &str) -> Option<u32> {
            self.lines().find_map(|line| {
                let mut fields = line.split(|byte| *byte == b':');
                let theirs = fields.next()?;
                let uid = fields.nth(1)?;
                if theirs != name.as_bytes() || name.is_empty() {
                    return None;
                }
                core::str::from_utf8(uid).ok()?.parse().ok()
            })
        }

        /// A database that a test wrote.
        #[cfg(test)]
        pub(crate) fn of(text: &str) -> Self {
            Self(text.as_bytes().to_vec())
        }

        fn lines(&self) -> impl Iterator<Item = &[u8]> {
            self.0.split(|byte| *byte == b'\n')
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;

        #[test]
        fn the_home_is_the_accounts_and_need_not_be_utf_8() {
            let text = b"root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000:,,,:/home/\xffann:/bin/sh\nrel:x:7:7::home:/bin/sh\nshort:x:8\n";
            let accounts = Accounts(text.to_vec());
            assert_eq!(accounts.home_of(0), Some(PathBuf::from("/root")));
            assert_eq!(accounts.home_of(1000), Some(PathBuf::from(OsString::from_vec(b"/home/\xffann".to_vec()))));
            assert_eq!(accounts.home_of(7), None, "a relative home is no home");
            assert_eq!(accounts.home_of(8), None);
            assert_eq!(accounts.home_of(100), None);
        }

        #[test]
        fn a_name_is_the_whole_name_and_its_number_is_a_number() {
            let text = b"root:x:0:0::/root:/bin/sh\nbursar:x:990:990::/var/lib/bursar:/bin/false\nbursar2:x:991:1::/:/\nodd:x:-1:0::/:/\n:x:5:5::/:/\n";
            let accounts = Accounts(text.to_vec());
            assert_eq!(accounts.uid_of("bursar"), Some(990));
            assert_eq!(accounts.uid_of("bursar2"), Some(991));
            for name in ["burs", "990", "odd", "", "x"] {
                assert_eq!(accounts.uid_of(name), None, "{name}");
            }
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod library {
    use nix::unistd::{Uid, User};
    use std::io;
    use std::path::PathBuf;

    /// The accounts that the system knows.
    pub(crate) struct Accounts;

    impl Accounts {
        /// Nothing is read before it is asked.
        #[expect(clippy::unnecessary_wraps, reason = "on Linux there is a file that may not open")]
        pub(crate) fn read() -> io::Result<Self> {
            Ok(Self)
        }

        /// The home directory of `uid`, where it is a whole path.
        #[expect(clippy::unused_self, reason = "on Linux there is a file behind it")]
        pub(crate) fn home_of(&self, uid: u32) -> Option<PathBuf> {
            let user = User::from_uid(Uid::from_raw(uid)).ok()??;
            user.dir.is_absolute().then_some(user.dir)
        }

        /// The user id of the account called `name`.
        #[expect(clippy::unused_self, reason = "on Linux there is a file behind it")]
        pub(crate) fn uid_of(&self, name: &str) -> Option<u32> {
            Some(User::from_name(name).ok()??.uid.as_raw())
        }
    }
}
