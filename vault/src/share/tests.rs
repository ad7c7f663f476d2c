//! Tests of the split: the rule by itself, and a center to play with. A crowd of vaults is in the tests of the ledger.

mod rule;
pub(crate) mod table;
