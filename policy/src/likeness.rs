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
/// They are the name and what it looks like, as they are and with any one letter left out.
#[must_use]
pub fn shapes(host: &Host) -> Vec<String> {
    let mut shapes: Vec<String> = Vec::new();
    for letters in [spelling(host), look(host)].into_iter().flatten() {
        shapes.extend((0..letters.len()).map(|left_out| without(&letters, left_out)));
        shapes.push(letters.iter().collect());
    }
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

/// Whether two different names, or what they look like (UTS 39 skeletons), are the same or differ by one letter more,
/// less or other, or by two that changed places.
#[must_use]
pub fn are_alike(one: &Host, other: &Host) -> bool {
    let near = |a: Option<Vec<char>>, b: Option<Vec<char>>| a.zip(b).is_some_and(|(a, b)| is_one_edit(&a, &b));
    one != other && (near(spelling(one), spelling(other)) || near(look(one), look(other)))
}

/// The name with its A-labels decoded.
fn as_seen(host: &Host) -> Option<String> {
    match host {
        Host::Name(name) => Some(idna::domain_to_unicode(name).0),
        Host::V4(_) | Host::V6(_) => None,
    }
}

/// Its letters.
fn spelling(host: &Host) -> Option<Vec<char>> {
    Some(as_seen(host)?.chars().collect())
}

/// The letters that a hasty reader would take it for.
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

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;
    use crate::site::Site;

    fn host(name: &str) -> Host {
        Site::parse(&alloc::format!("https://{name}/")).unwrap().host().clone()
    }

    #[test]
    fn one_letter_more_less_or_other_or_two_that_changed_places_are_alike() {
        let known = host("api.example.com");
        for alike in [
            "api.examp1e.com",
            "api.exmaple.com",
            "ap.example.com",
            "apis.example.com",
            "api.exarnple.com",
            "аpi.example.com",
            // By its letters only: an `m` looks like `rn`, and that is two letters away from an `x`.
            "api.exaxple.com",
        ] {
            let alike = host(alike);
            assert!(are_alike(&known, &alike) && are_alike(&alike, &known), "{alike}");
            assert!(shapes(&known).iter().any(|shape| shapes(&alike).contains(shape)), "{alike}");
        }
        for other in [
            "api.example.com",
            "data.example.com",
            "api.example.org",
            "example.com",
            "ipa.example.com",
            // A letter that moved, and another one in its place.
            "api.exapqle.com",
            "api.exaqmle.com",
        ] {
            assert!(!are_alike(&known, &host(other)), "{other}");
        }
    }

    #[test]
    fn a_name_is_found_by_itself_and_its_look_and_with_any_one_letter_left_out() {
        assert_eq!(shapes(&host("ab.es")), ["a.es", "ab.e", "ab.es", "ab.s", "abes", "b.es"]);
        let of_letters = [".es", "m.e", "m.es", "m.s", "mes"];
        let of_look = ["n.es", "r.es", "rn.e", "rn.es", "rn.s", "rnes"];
        assert_eq!(shapes(&host("m.es")), [of_letters.as_slice(), of_look.as_slice()].concat());
    }

    #[test]
    fn addresses_look_like_nothing() {
        let address = Host::V4([10, 0, 0, 1].into());
        assert!(shapes(&address).is_empty());
        assert!(!are_alike(&address, &Host::V4([10, 0, 0, 2].into())));
        assert_eq!(mixed_scripts(&address), None);
    }

    #[test]
    fn one_label_of_several_scripts_is_mixed_and_two_labels_of_one_each_are_not() {
        assert_eq!(mixed_scripts(&host("pаypal.test")), Some("pаypal.test".to_string()));
        for honest in ["paypal.test", "bücher.test", "почта.test", "почта.example.com", "食べ物.test", "shop-24.test"]
        {
            assert_eq!(mixed_scripts(&host(honest)), None, "{honest}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whoever_is_alike_shares_a_shape(one in "[a-z01.-]{3,12}", at in 0_usize..12, letter in "[a-z01]") {
            let (Ok(known), spoilt) = (alloc::format!("{one}.test").parse::<Host>(), {
                let mut letters: Vec<char> = one.chars().collect();
                let at = at.min(letters.len());
                letters.splice(at..at.saturating_add(1).min(letters.len()), letter.chars());
                letters.into_iter().collect::<String>()
            }) else { return Ok(()) };
            let Ok(other) = alloc::format!("{spoilt}.test").parse::<Host>() else { return Ok(()) };
            if are_alike(&known, &other) {
                let (known, other) = (shapes(&known), shapes(&other));
                proptest::prop_assert!(known.iter().any(|shape| other.contains(shape)));
            } else {
                proptest::prop_assert_eq!(known, other);
            }
        }
    }
}
