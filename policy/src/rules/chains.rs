//! Where the operator has a chain asked, and how many have to say the same. It must never allow a payment.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use super::build::{Range, check_twice, span};
use super::draft::{BalanceNeed, ChainDraft};
use super::{RuleFault, Rules};
use crate::chain::ChainId;
use crate::site::{Origin, Scheme, Site};

/// `poll`, in seconds: default, least and most.
const POLL_S: Range = Range { default: 30, least: 1, most: 3_600 };

/// The most endpoints of one chain.
const ENDPOINTS_MAX: usize = 5;

/// The URL of a JSON-RPC endpoint. Its path and its query may hold the key of an account there, so that its `Debug`
/// form is the origin alone and it has no other form for people.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct RpcUrl(Site);

impl RpcUrl {
    /// The whole URL, for whoever dials it.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.0
    }

    /// What may be shown of it.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        self.0.origin()
    }
}

impl fmt::Debug for RpcUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RpcUrl({})", self.origin())
    }
}

/// How one chain is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRule {
    endpoints: Vec<RpcUrl>,
    agree: usize,
    balance: BalanceNeed,
    poll_s: u64,
}

impl ChainRule {
    /// Its endpoints: at least one, each on a host of its own.
    #[must_use]
    pub fn endpoints(&self) -> &[RpcUrl] {
        &self.endpoints
    }

    /// How many of them have to say the same before it is believed: from 1 to all of them.
    #[must_use]
    pub const fn agree(&self) -> usize {
        self.agree
    }

    /// What the wallet's balance decides.
    #[must_use]
    pub const fn balance(&self) -> BalanceNeed {
        self.balance
    }

    /// How long the vault waits between two looks, in seconds.
    #[must_use]
    pub const fn poll_s(&self) -> u64 {
        self.poll_s
    }
}

/// The chains that are asked, each once.
pub(super) fn chains_of(
    drafts: Vec<ChainDraft>,
    networks: &[ChainId],
) -> Result<BTreeMap<ChainId, ChainRule>, RuleFault> {
    check_twice("[[chain]]", drafts.iter().map(|draft| draft.network))?;
    drafts.into_iter().map(|draft| rule_of(draft, networks)).collect()
}

fn rule_of(draft: ChainDraft, networks: &[ChainId]) -> Result<(ChainId, ChainRule), RuleFault> {
    let ChainDraft { network, rpc, agree, balance, poll } = draft;
    if !networks.contains(&network) {
        return Err(RuleFault::IdleChain(network));
    }
    if rpc.is_empty() || ENDPOINTS_MAX < rpc.len() {
        return Err(RuleFault::Endpoints(network));
    }
    // Two endpoints of one host are one witness.
    check_twice("rpc", rpc.iter().map(|url| url.origin().host.to_string()))?;
    let all = rpc.len();
    let agree = agree.map_or(Some(all), |agree| usize::try_from(agree).ok().filter(|agree| (1..=all).contains(agree)));
    let agree = agree.ok_or(RuleFault::Agree { chain: network, endpoints: all })?;
    Ok((network, ChainRule { endpoints: rpc, agree, balance, poll_s: span("poll", poll, POLL_S)? }))
}

impl Rules {
    /// Refuses an endpoint that would be asked in the open.
    pub(super) fn check_endpoints(&self) -> Result<(), RuleFault> {
        let open = |url: &&RpcUrl| url.origin().scheme == Scheme::Http && !self.allow_http_loopback(&url.origin().host);
        match self.chains_asked.values().flat_map(ChainRule::endpoints).find(open) {
            None => Ok(()),
            Some(url) => Err(RuleFault::PlainHttp(url.origin().clone())),
        }
    }

    /// How `chain` is asked; `None` where the operator named no endpoint for it.
    #[must_use]
    pub fn chain_rule(&self, chain: ChainId) -> Option<&ChainRule> {
        self.chains_asked.get(&chain)
    }

    /// Every chain that is asked.
    pub fn chain_rules(&self) -> impl Iterator<Item = (ChainId, &ChainRule)> {
        self.chains_asked.iter().map(|(chain, rule)| (*chain, rule))
    }
}
