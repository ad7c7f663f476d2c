//! `bursar content prune`: makes room. It must never take what a payment waits for, nor what was paid for unless told to.

use bursar_policy::quantity::{ByteSize, Span};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, WhichRules};
use clap::Args;
use serde::Serialize;

use super::inventory::{Inventory, Item};
use super::lost;
use crate::cli::connect::{Operator, out_of_turn};
use crate::cli::exit::{Exit, Stop};
use crate::cli::table;
use crate::clock;
use crate::content::ContentStore;

/// Remove what is old or too much; what was paid for only with `--paid`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Prune {
    /// Remove what was stored longer ago than this, `30d` or `12h`; `content_age` of the rules where left out
    #[arg(long, value_name = "TIME")]
    older_than: Option<Span>,
    /// Remove the oldest until no more than this is stored, `1 GiB`; `max_content` of the rules where left out
    #[arg(long, value_name = "SIZE", value_parser = size)]
    over: Option<ByteSize>,
    /// Remove what was paid for too, after what was not
    #[arg(long)]
    paid: bool,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A size as it is typed: with or without the space.
fn size(text: &str) -> Result<ByteSize, String> {
    let unit = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    format!("{} {unit}", number.trim_end()).parse().map_err(|fault| format!("{fault}"))
}

/// What limits the store.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// What was stored before this Unix second is too old.
    before_s: Option<u64>,
    /// More bytes than these are too many.
    most: Option<u64>,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
struct Pruned {
    removed: usize,
    freed_bytes: u64,
    left: usize,
    left_bytes: u64,
    /// How many were spared because a payment waits for them, or because they were paid for.
    spared: usize,
    dry_run: bool,
}

impl Prune {
    pub(super) fn run(&self, profile: &Profile, store: &ContentStore) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let limits = self.limits(profile, &operator)?;
        let inventory = Inventory::read(&operator, store)?;
        let (chosen, spared) = chosen(&inventory, limits, self.paid);
        let all_bytes = sum(inventory.items().iter());
        let freed_bytes = sum(chosen.iter().copied());
        if !self.dry_run {
            for item in &chosen {
                store.remove(&item.digest).map_err(lost)?;
            }
            store.forget_idle_notes().map_err(lost)?;
        }
        let pruned = Pruned {
            removed: chosen.len(),
            freed_bytes,
            left: inventory.items().len().saturating_sub(chosen.len()),
            left_bytes: all_bytes.saturating_sub(freed_bytes),
            spared,
            dry_run: self.dry_run,
        };
        self.tell(&pruned)?;
        Ok(Exit::Done)
    }

    /// What was typed, or else what the rules in force say.
    fn limits(&self, profile: &Profile, operator: &Operator) -> Result<Limits, Stop> {
        let ask = OperatorAsk::Rules { which: WhichRules::InForce };
        let OperatorReply::Rules { text, .. } = operator.ask(&ask)? else { return Err(out_of_turn()) };
        let rules = bursar_vault::rules_file::parse(&text, profile.setting())
            .map_err(|fault| Stop::not_ready(fault.to_string()))?;
        // A limit that is typed stands alone: nobody who types one means to remove by another as well.
        let (age_s, most) = match (self.older_than, self.over) {
            (None, None) => (rules.keeping().age_s, rules.keeping().max_bytes),
            (age, over) => (age.map(Span::secs), over.map(ByteSize::bytes)),
        };
        if age_s.is_none() && most.is_none() {
            return Err(Stop::usage(
                "nothing says what is too old or too much; give `--older-than` or `--over`, or set `content_age` or `max_content` in the rules",
            ));
        }
        Ok(Limits { before_s: age_s.map(|age_s| clock::now_s().saturating_sub(age_s)), most })
    }

    fn tell(&self, pruned: &Pruned) -> Result<(), Stop> {
        if self.json {
            return table::say_json(pruned);
        }
        let verb = if pruned.dry_run { "Would remove" } else { "Removed" };
        let bytes = |bytes: u64| table::size(bytes);
        table::say(&format!("{verb} {} bodies ({}).", pruned.removed, bytes(pruned.freed_bytes)))?;
        table::say(&format!("Left are {} ({}).", pruned.left, bytes(pruned.left_bytes)))?;
        if 0 < pruned.spared {
            let why = if self.paid { "a payment waits for each" } else { "paid for, or a payment waits for it" };
            table::say(&format!("Spared were {}: {why}.", pruned.spared))?;
        }
        Ok(())
    }
}

/// What goes, and how many of those that the limits mean are spared: what cost nothing first, and of that the oldest.
fn chosen(inventory: &Inventory, limits: Limits, paid_too: bool) -> (Vec<&Item>, usize) {
    let mut order: Vec<&Item> = inventory.items().iter().collect();
    // Stable: within each half the oldest stays first.
    order.sort_by_key(|item| !item.payments.is_empty());
    let mut left = sum(order.iter().copied());
    let (mut gone, mut spared) = (Vec::new(), 0_usize);
    for item in order {
        let too_old = limits.before_s.is_some_and(|before_s| item.stored_s < before_s);
        let too_much = limits.most.is_some_and(|most| most < left);
        if !too_old && !too_much {
            continue;
        }
        if inventory.is_needed(item) || (!paid_too && !item.payments.is_empty()) {
            spared = spared.saturating_add(1);
            continue;
        }
        left = left.saturating_sub(item.bytes);
        gone.push(item);
    }
    (gone, spared)
}

fn sum<'i>(items: impl Iterator<Item = &'i Item>) -> u64 {
    items.fold(0, |sum, item| sum.saturating_add(item.bytes))
}

#[cfg(test)]
mod tests;
