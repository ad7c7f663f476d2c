//! A client's configuration file: found, read, and written whole or not at all.
//!
//! It is the client's file and the user's, so nothing about it is judged that bursar judges of its own: a link is followed
//! to where it leads and stays a link, the mode stays, and the file as it was is kept beside it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bursar_vault::guarded;
use bursar_vault::platform::{self, Kind};

use super::client::{Client, System};

/// The most bytes of a configuration file.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The mode of a file that was not there.
const NEW_MODE: u32 = 0o600;

/// How many copies are kept beside one file before somebody has to look.
const COPIES_MAX: u32 = 999;

/// Why a file is not read or written. Each sentence says what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileFault {
    /// A link that leads nowhere.
    #[error("`{}` is a link that leads nowhere; mend or remove it", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// Not a plain file.
    #[error("`{}` is not a plain file; put one there", path.display())]
    NotFile {
        /// The path.
        path: PathBuf,
    },
    /// It has other names, which a new file would be cut off from.
    #[error("`{}` has {names} names (hard links), and only one of them would change; edit it by hand", path.display())]
    Linked {
        /// The path.
        path: PathBuf,
        /// How many.
        names: u64,
    },
    /// It is somebody else's.
    #[error("`{}` belongs to user id {owner}; run this as that user", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// It is too large to be one.
    #[error("`{}` has more than {BYTES_MAX} bytes; look what it is", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// Not UTF-8.
    #[error("`{}` is not UTF-8 text; save it as UTF-8", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// Somebody wrote it in the meantime.
    #[error("`{}` was changed meanwhile, so it was left alone; close the client and run this again", path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// A new file would put another one out of force.
    #[error("the client still reads `{}`, and would stop when a new file appears beside it; have the client move to the new file first", path.display())]
    Eclipses {
        /// The file that would be put out of force.
        path: PathBuf,
    },
    /// There are too many copies.
    #[error("there are {COPIES_MAX} copies beside `{}` already; remove some", path.display())]
    Copies {
        /// The path.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    System {
        /// What was tried.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A configuration file as it was read.
#[derive(Debug)]
pub(super) struct Config {
    /// As it was named.
    pub(super) path: PathBuf,
    /// Where that leads.
    real: PathBuf,
    /// What was read; `None` where there is no file.
    text: Option<String>,
    /// Its mode bits.
    pub(super) mode: u32,
}

/// Whether the client seems to be there for this user.
pub(super) fn is_here(client: &Client, home: &Path, system: System) -> bool {
    let places = client.places(system);
    places.files.iter().chain(places.traces).any(|place| home.join(place).symlink_metadata().is_ok())
}

/// The file that the client reads, or would read if it were there.
pub(super) fn place(client: &Client, home: &Path, system: System) -> PathBuf {
    let places = client.places(system);
    let there = places.files.iter().find(|file| home.join(file).symlink_metadata().is_ok());
    // Of several homes of one client the one that is lived in.
    let lived_in = || places.files.iter().find(|file| places.traces.iter().any(|trace| lives(home, file, trace)));
    let usual = || places.files.first();
    home.join(there.or_else(lived_in).or_else(usual).copied().unwrap_or_default())
}

fn lives(home: &Path, file: &str, trace: &str) -> bool {
    file.starts_with(trace) && home.join(trace).is_dir()
}

/// Refuses to make a file that would put another one out of force.
///
/// # Errors
///
/// [`FileFault::Eclipses`].
pub(super) fn may_appear(client: &Client, home: &Path, system: System, config: &Config) -> Result<(), FileFault> {
    let Some(other) = client.places(system).eclipsed.map(|other| home.join(other)) else { return Ok(()) };
    if config.text.is_none() && other.symlink_metadata().is_ok() {
        return Err(FileFault::Eclipses { path: other });
    }
    Ok(())
}

impl Config {
    /// Reads the file at `path`, or finds that there is none.
    ///
    /// # Errors
    ///
    /// [`FileFault`].
    pub(super) fn read(path: &Path) -> Result<Self, FileFault> {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    return Err(FileFault::Dangling { path: path.to_owned() });
                }
                return Ok(Self { path: path.to_owned(), real: path.to_owned(), text: None, mode: NEW_MODE });
            }
            Err(fault) => return Err(system("find", path, fault)),
        };
        let (text, mode) = contents(&real)?;
        Ok(Self { path: path.to_owned(), real, text: Some(text), mode })
    }

    /// What it holds; nothing where it is not there.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Puts `text` in its place, and gives the path of the copy of what was there before, if anything was.
    ///
    /// # Errors
    ///
    /// [`FileFault`]: the file is as it was.
    pub(super) fn write(&self, text: &str) -> Result<Option<PathBuf>, FileFault> {
        match &self.text {
            None => {
                if let Some(folder) = self.real.parent() {
                    platform::make_directories(folder).map_err(|fault| system("make", folder, fault))?;
                }
                let beside = self.beside(text.as_bytes())?;
                platform::rename_to_new(&beside, &self.real).map_err(|fault| {
                    discard(&beside);
                    match fault.kind() {
                        io::ErrorKind::AlreadyExists => FileFault::Changed { path: self.path.clone() },
                        _ => system("make", &self.real, fault),
                    }
                })?;
                self.settled()?;
                Ok(None)
            }
            Some(before) => {
                let copy = self.copy(before.as_bytes())?;
                let beside = self.beside(text.as_bytes())?;
                // As late as can be: a client that runs may write its file at any time.
                if !contents(&self.real).is_ok_and(|(now, _)| now == *before) {
                    discard(&beside);
                    discard(&copy);
                    return Err(FileFault::Changed { path: self.path.clone() });
                }
                if let Err(fault) = fs::rename(&beside, &self.real) {
                    discard(&beside);
                    discard(&copy);
                    return Err(system("replace", &self.real, fault));
                }
                self.settled()?;
                Ok(Some(copy))
            }
        }
    }

    /// A finished file beside this one, with its mode.
    fn beside(&self, bytes: &[u8]) -> Result<PathBuf, FileFault> {
        let name = format!(".{}.bursar-{}", self.file_name(), std::process::id());
        let beside = self.real.with_file_name(name);
        match finished(&beside, bytes, self.mode) {
            Ok(()) => Ok(beside),
            Err(fault) => {
                if fault.kind() != io::ErrorKind::AlreadyExists {
                    discard(&beside);
                }
                Err(system("write", &beside, fault))
            }
        }
    }

    /// The file as it is, under a name that was free.
    fn copy(&self, bytes: &[u8]) -> Result<PathBuf, FileFault> {
        for number in 1..=COPIES_MAX {
            let copy = self.real.with_file_name(format!("{}.before-bursar-{number}", self.file_name()));
            match finished(&copy, bytes, self.mode) {
                Ok(()) => return Ok(copy),
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
                Err(fault) => {
                    discard(&copy);
                    return Err(system("write", &copy, fault));
                }
            }
        }
        Err(FileFault::Copies { path: self.real.clone() })
    }

    fn file_name(&self) -> String {
        self.real.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    fn settled(&self) -> Result<(), FileFault> {
        let Some(folder) = self.real.parent() else { return Ok(()) };
        platform::sync_directory(folder).map_err(|fault| system("sync", folder, fault))
    }
}

/// The text and the mode bits of a plain file of ours.
fn contents(path: &Path) -> Result<(String, u32), FileFault> {
    let file = File::open(path).map_err(|fault| system("open", path, fault))?;
    let found = platform::facts(&file).map_err(|fault| system("examine", path, fault))?;
    let path = || path.to_owned();
    if found.kind != Kind::File {
        return Err(FileFault::NotFile { path: path() });
    }
    if found.owner != guarded::our_uid() {
        return Err(FileFault::Foreign { path: path(), owner: found.owner });
    }
    if found.links != 1 {
        return Err(FileFault::Linked { path: path(), names: found.links });
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).map_err(|fault| system("read", &path(), fault))?;
    if BYTES_MAX < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        return Err(FileFault::TooLarge { path: path() });
    }
    let text = String::from_utf8(bytes).map_err(|_fault| FileFault::NotText { path: path() })?;
    Ok((text, found.mode))
}

/// Makes a new file with these bytes and this mode, on the disk when this returns.
fn finished(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = platform::private_file().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    platform::set_mode(&file, mode)?;
    file.sync_all()
}

fn discard(path: &Path) {
    if let Err(fault) = fs::remove_file(path) {
        tracing::debug!(%fault, "a file that is not needed stays");
    }
}

fn system(doing: &'static str, path: &Path, source: io::Error) -> FileFault {
    FileFault::System { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
