//! The thread that looks for something to tell and tells it. Must never be waited for by anybody who pays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_policy::rules::{Rules, Webhook};

use super::change::{Standing, Told};
use super::post::Post;
use super::{Courier, Message};
use crate::ledger::{Event, EventKind, LedgerFault};
use crate::protocol::SecretValue;
use crate::vault::Vault;

/// How long to wait for the next event before it is looked whether time changed something.
const PAUSE: Duration = Duration::from_secs(1);
/// The least time between two looks: a crowd of payments is looked at together.
const REST: Duration = Duration::from_millis(200);

/// Tells the webhook of the rules what there is to tell until the vault ends.
pub(crate) fn run(vault: &Arc<Vault>, courier: &dyn Courier) {
    let began = Instant::now();
    let mut post = Post::default();
    let mut told: Option<Told> = None;
    let mut seen = 0;
    while vault.wait_for(REST).is_none() {
        let rules = vault.rules();
        let Some(webhook) = rules.rules.notify() else {
            // Who is named later is told what waits then.
            (told, seen) = (None, 0);
            post.clear();
            vault.wait_for(PAUSE);
            continue;
        };
        let came_to = vault.ledger.came_to();
        match standing(vault, &rules.rules) {
            Ok(now) => {
                let known = told.get_or_insert_with(|| Told::beginning(&now));
                let became = |id: &_| vault.ledger.approval(id).ok().flatten().map(|view| view.state);
                let notices = known.news(&now, webhook.telling(), became);
                for notice in notices {
                    let given_up = post.add(notice, began.elapsed());
                    give_up(vault, given_up, "too many wait");
                }
                seen = came_to;
            }
            Err(fault) => tracing::warn!(%fault, "what there is to tell could not be looked up"),
        }
        give_up(vault, post.forget_old(began.elapsed()), "it waited for an hour");
        send(vault, &rules.rules, webhook, courier, &mut post, began);
        // Whatever it says: time alone changes things too.
        let _is_news = vault.ledger.wait_past(seen, PAUSE);
    }
}

fn standing(vault: &Vault, rules: &Arc<Rules>) -> Result<Standing, LedgerFault> {
    let overview = vault.ledger.overview(None, rules)?;
    Ok(Standing {
        approvals: vault.ledger.approvals()?,
        sessions: vault.ledger.sessions()?,
        frozen: overview.frozen,
        latched: overview.latched,
        now_s: overview.now_s,
    })
}

/// Tries every message whose turn it is, each once.
fn send(vault: &Vault, rules: &Arc<Rules>, webhook: &Webhook, courier: &dyn Courier, post: &mut Post, began: Instant) {
    while vault.is_ending().is_none()
        && let Some(letter) = post.due(began.elapsed())
    {
        let Some(secret) = secret(vault, webhook) else {
            return post.keep(letter);
        };
        let notice = letter.notice.clone();
        let message = Message::sign(notice.id, vault.ledger.time().now_s, notice.body, &secret);
        if let Err(fault) = courier.send(rules, &message) {
            tracing::warn!(%fault, "a message to the webhook may not have arrived");
            if post.failed(letter, began.elapsed()) {
                give_up(vault, 1, &fault.to_string());
            }
        }
    }
}

/// What messages are signed with; `None` while the wallet is locked or nothing is kept under its name.
fn secret(vault: &Vault, webhook: &Webhook) -> Option<SecretValue> {
    let key = vault.wallet.key()?;
    match vault.secrets.open(&key) {
        Ok(mut kept) => kept.remove(webhook.secret()).map(|kept| kept.value),
        Err(fault) => {
            tracing::warn!(%fault, "the secret of the webhook cannot be opened");
            None
        }
    }
}

/// Writes down that messages were given up.
fn give_up(vault: &Vault, count: usize, why: &str) {
    if count != 0 {
        let told = format!("{count} messages to the webhook were given up: {why}");
        vault.ledger.note(Event::new(EventKind::Note, told));
    }
}
