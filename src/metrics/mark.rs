//! How far a vault's measures were read. Must never count anything twice, nor what happened before the first look.

use std::collections::BTreeMap;

use bursar_vault::protocol::{Measures, Passage};

/// How far, and of which vault.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    since_us: Option<u64>,
    last: u64,
    refused: BTreeMap<String, u64>,
}

/// What came since the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fresh {
    /// Purchases that are over, oldest first.
    pub(crate) passages: Vec<Passage>,
    /// By code, how many more refusals there are.
    pub(crate) refused: BTreeMap<String, u64>,
    /// How many purchases were over and forgotten by the vault before it was asked.
    pub(crate) missed: u64,
    /// Whether there is more at once.
    pub(crate) more: bool,
}

impl Mark {
    /// The number to ask after. Before the first answer nothing of the past is wanted.
    pub(crate) fn after(&self) -> u64 {
        if self.since_us.is_some() { self.last } else { u64::MAX }
    }

    /// What is new in an answer to [`Mark::after`].
    pub(crate) fn read(&mut self, measures: Measures) -> Fresh {
        let Measures { since_us, refused, last, passages } = measures;
        if self.since_us.is_none() {
            *self = Self { since_us: Some(since_us), last, refused };
            return Fresh::default();
        }
        if self.since_us != Some(since_us) {
            // Another vault, whose numbers begin anew: nothing of it was seen yet, and it was asked for too little.
            *self = Self { since_us: Some(since_us), last: 0, refused: BTreeMap::new() };
            return Fresh { more: true, ..Fresh::default() };
        }
        let more = |(code, times): (&String, &u64)| {
            let grown = times.saturating_sub(self.refused.get(code).copied().unwrap_or_default());
            (grown != 0).then(|| (code.clone(), grown))
        };
        let grown = refused.iter().filter_map(more).collect();
        self.refused = refused;
        let first = passages.first().map_or(self.last, |passage| passage.number.saturating_sub(1));
        let missed = first.saturating_sub(self.last);
        let seen = passages.last().map_or(self.last, |passage| passage.number);
        self.last = seen;
        Fresh { more: !passages.is_empty() && seen < last, passages, refused: grown, missed }
    }
}

#[cfg(test)]
mod tests {
    use bursar_vault::protocol::{PassageEnd, Sender};

    use super::*;

    fn measures(since_us: u64, last: u64, numbers: &[u64], frozen: u64) -> Measures {
        let passage = |number: &u64| Passage {
            number: *number,
            by: Sender::Serve,
            host: "a.example".to_owned(),
            began_us: 1,
            took_us: 1,
            legs: Vec::new(),
            end: PassageEnd::Unpaid,
            codes: Vec::new(),
            payment: None,
            money: None,
        };
        let refused = BTreeMap::from([("frozen".to_owned(), frozen)]);
        Measures { since_us, refused, last, passages: numbers.iter().map(passage).collect() }
    }

    fn numbers(fresh: &Fresh) -> Vec<u64> {
        fresh.passages.iter().map(|passage| passage.number).collect()
    }

    #[test]
    fn nothing_is_counted_twice_and_what_the_vault_forgot_is_told() {
        let mut mark = Mark::default();
        assert_eq!(mark.after(), u64::MAX);
        assert_eq!(mark.read(measures(7, 40, &[], 3)), Fresh::default(), "the past is nobody's");
        assert_eq!(mark.after(), 40);
        let fresh = mark.read(measures(7, 44, &[41, 42], 5));
        assert_eq!((numbers(&fresh), fresh.missed, fresh.more, fresh.refused["frozen"]), (vec![41, 42], 0, true, 2));
        let fresh = mark.read(measures(7, 48, &[47, 48], 5));
        assert_eq!((numbers(&fresh), fresh.missed, fresh.more), (vec![47, 48], 4, false));
        assert!(fresh.refused.is_empty());
        assert_eq!(mark.read(measures(7, 48, &[], 5)), Fresh::default());
    }

    #[test]
    fn another_vault_is_asked_from_its_beginning() {
        let mut mark = Mark::default();
        mark.read(measures(7, 40, &[], 3));
        let fresh = mark.read(measures(8, 41, &[41], 1));
        assert_eq!((numbers(&fresh), fresh.more, mark.after()), (Vec::new(), true, 0));
        let fresh = mark.read(measures(8, 2, &[1, 2], 1));
        assert_eq!((numbers(&fresh), fresh.missed, fresh.refused["frozen"]), (vec![1, 2], 0, 1));
    }
}
