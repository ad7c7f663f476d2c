//! Host names that people take for one another. It must never say that two hosts are the same: only that a person
//! should look.

use alloc::string::String;
use alloc::vec::Vec;

use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;

use crate::site::Host;

/// The name as people see it, where one of its labels mixes letters of several scripts (UTS 39, single script);
/// nothing for other names and for addresses.
#[must_use]
pub fn mixed_scripts(host: &Host) -> Option<String> {
    let shown = as_seen(host)?;
    let mixed = shown.split('.').any(|label| !label.is_single_script());
    mixed.then_some(shown)
}

/// What a name is found by when another one may look like it: two names that [`are_alike`] share at least one of
/// these. Nothing for addresses.
///
/// A name of n letters has at most n + 1 shapes: what it looks like, and that with one letter left out.
#[must_use]
pub fn shapes(host: &Host) -> Vec<String> {
    let Some(letters) = look(host) else { return Vec::new() };
    let mut shapes: Vec<String> = (0..letters.len()).map(|left_out| without(&letters, left_out)).collect();
    shapes.push(letters.iter().collect());
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

/// Whether two different names look the same (UTS 39 skeletons), or differ in one letter more, less or other than
/// the other's, or in two that changed places.
#[must_use]
pub fn are_alike(one: &Host, other: &Host) -> bool {
    match (look(one), look(other)) {
        (Some(a), Some(b)) => one != other && is_one_edit(&a, &b),
        _ => false,
    }
}

/// The name with its A-labels decoded.
fn as_seen(host: &Host) -> Option<String> {
    match host {
        Host::Name(name) => Some(idna::domain_to_unicode(name).0),
        Host::V4(_) | Host::V6(_) => None,
    }
}

/// The letters that a reader would take the name for.
fn look(host: &Host) -> Option<Vec<char>> {
    let seen = as_seen(host)?;
    Some(skeleton(&seen).flat_map(char::to_lowercase).collect())
}

fn without(letters: &[char], left_out: usize) -> String {
    let kept = letters.iter().enumerate().filter(|(place, _)| *place != left_out);
    kept.map(|(_, letter)| letter).collect()
}

/// At most one edit apart (optimal string alignment distance).
fn is_one_edit(a: &[char], b: &[char]) -> bool {
    let ahead = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(ahead..).unwrap_or_default(), b.get(ahead..).unwrap_or_default());
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let middle = |letters: &[char]| letters.iter().take(letters.len().saturating_sub(behind)).copied().collect();
    let (a, b): (Vec<char>, Vec<char>) = (middle(a), middle(b));
    match (a.as_slice(), b.as_slice()) {
        ([] | [_], [] | [_]) => true,
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}
