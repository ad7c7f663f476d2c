//! How commands of this program are spelled for a person, so that they can be typed as they stand. Must never leave out which
//! profile is meant.

use bursar_vault::profile::Profile;

/// How a person starts this program for `profile`, to be shown in front of a command.
pub(crate) fn spelled(profile: &Profile) -> String {
    let words = crate::wallet::arguments(profile);
    let quoted = words.iter().map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once("bursar".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// `sentence` with every command in it spelled for `profile`.
pub(crate) fn advice(profile: &Profile, sentence: &str) -> String {
    sentence.replace("`bursar ", &format!("`{} ", spelled(profile)))
}

/// One word for a POSIX shell, quoted where it needs to be.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:=@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
