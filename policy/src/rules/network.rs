//! What the operator says of the network on top of the tables of addresses. It must never make public what is not.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use super::build::{check_twice, is_plain_file_name};
use super::draft::NetworkDraft;
use super::fault::RuleFault;
use crate::address_block::AddressBlock;
use crate::address_class::{AddressClass, classify};
use crate::refusal::Refusal;
use crate::secret::SecretName;
use crate::site::{Origin, Scheme};

/// Which addresses may be dialled, beside what the tables of special addresses say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    deny: Vec<AddressBlock>,
    allow: Option<Vec<AddressBlock>>,
    proxy: Option<Origin>,
    proxy_secret: Option<SecretName>,
    extra_ca: Option<String>,
}

impl Network {
    pub(super) fn new(draft: NetworkDraft) -> Result<Self, RuleFault> {
        let NetworkDraft { deny, allow, proxy, proxy_secret, extra_ca } = draft;
        check_twice("deny", deny.iter())?;
        check_twice("allow", allow.iter().flatten())?;
        if let Some(proxy) = proxy.as_ref().filter(|proxy| proxy.scheme != Scheme::Http) {
            return Err(RuleFault::Proxy(proxy.clone()));
        }
        if proxy.is_none() && proxy_secret.is_some() {
            return Err(RuleFault::IdleProxySecret);
        }
        if let Some(name) = extra_ca.as_ref().filter(|name| !is_plain_file_name(name)) {
            return Err(RuleFault::ExtraCaFile(name.clone()));
        }
        match allow.iter().flatten().find(|block| !block.is_public_at_its_edges()) {
            None => Ok(Self { deny, allow, proxy, proxy_secret, extra_ca }),
            Some(block) => Err(RuleFault::AllowedNotPublic(*block)),
        }
    }

    /// The blocks of which no address is dialled.
    #[must_use]
    pub fn deny(&self) -> &[AddressBlock] {
        &self.deny
    }

    /// The blocks outside of which no public address is dialled; `None` when every public one may be.
    #[must_use]
    pub fn allow(&self) -> Option<&[AddressBlock]> {
        self.allow.as_deref()
    }

    /// The proxy through which sellers are reached. The operator named it, so it may be anywhere.
    #[must_use]
    pub const fn proxy(&self) -> Option<&Origin> {
        self.proxy.as_ref()
    }

    /// The secret with the user name and password that the proxy wants. It is sent to the proxy alone.
    #[must_use]
    pub const fn proxy_secret(&self) -> Option<&SecretName> {
        self.proxy_secret.as_ref()
    }

    /// The file name, inside the profile's folder, of one more certificate authority.
    #[must_use]
    pub fn extra_ca(&self) -> Option<&str> {
        self.extra_ca.as_deref()
    }

    /// What stands against dialling `ip`; `on_loopback` where the rules of a sandbox put the seller on this machine.
    ///
    /// Not public is always refused, whatever is listed: loopback passes where a sandbox puts a seller there, and
    /// nothing else does then. A denied block counts everywhere, an allowed one for public addresses.
    #[must_use]
    pub fn refuses(&self, ip: IpAddr, on_loopback: bool) -> Option<Refusal> {
        let not_public = |block: &str| Some(Refusal::AddressNotPublic { address: ip.to_string(), block: block.into() });
        let public = match (classify(ip), on_loopback) {
            (AddressClass::Public, false) => true,
            (AddressClass::Loopback, true) => false,
            (AddressClass::Public, true) => return not_public("not loopback, which is all that a sandbox may map to"),
            (AddressClass::Loopback, false) => return not_public("loopback"),
            (AddressClass::Special { block, .. }, _) => return not_public(block),
        };
        let denied = |block: Option<AddressBlock>| Some(Refusal::AddressDenied { address: ip.to_string(), block });
        if let Some(block) = self.deny.iter().find(|block| block.covers(ip)) {
            return denied(Some(*block));
        }
        let outside = |allowed: &Vec<AddressBlock>| !allowed.iter().any(|block| block.covers(ip));
        if public && self.allow.as_ref().is_some_and(outside) { denied(None) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    fn network(deny: &[&str], allow: Option<&[&str]>) -> Network {
        let blocks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Network::new(NetworkDraft { deny: blocks(deny), allow: allow.map(blocks), ..NetworkDraft::default() }).unwrap()
    }

    fn code(network: &Network, ip: &str, on_loopback: bool) -> &'static str {
        network.refuses(ip.parse().unwrap(), on_loopback).map_or("passes", |refusal| refusal.code())
    }

    #[test]
    fn with_nothing_listed_what_is_public_passes() {
        let plain = network(&[], None);
        for (ip, on_loopback, told) in [
            ("93.184.216.34", false, "passes"),
            ("93.184.216.34", true, "address_not_public"),
            ("127.0.0.1", true, "passes"),
            ("127.0.0.1", false, "address_not_public"),
            ("10.0.0.1", false, "address_not_public"),
            ("10.0.0.1", true, "address_not_public"),
        ] {
            assert_eq!(code(&plain, ip, on_loopback), told, "{ip} {on_loopback}");
        }
    }

    #[test]
    fn a_denied_block_counts_everywhere_and_before_an_allowed_one() {
        let both = network(&["93.184.216.0/24", "127.0.0.2"], Some(&["93.184.0.0/16"]));
        for (ip, on_loopback, told) in [
            ("93.184.215.255", false, "passes"),
            ("93.184.216.0", false, "address_denied"),
            ("93.184.216.255", false, "address_denied"),
            ("93.184.217.0", false, "passes"),
            ("64:ff9b::5db8:d822", false, "address_denied"),
            ("64:ff9b::5db8:d922", false, "passes"),
            ("8.8.8.8", false, "address_denied"),
            ("127.0.0.1", true, "passes"),
            ("127.0.0.2", true, "address_denied"),
        ] {
            assert_eq!(code(&both, ip, on_loopback), told, "{ip} {on_loopback}");
        }
    }

    #[test]
    fn what_the_rules_say_is_told_as_they_say_it() {
        let proxy: Origin = "http://proxy.corp.example:3128".parse().unwrap();
        let draft = NetworkDraft {
            deny: vec!["203.0.113.0/24".parse().unwrap()],
            allow: Some(vec!["93.184.216.34".parse().unwrap()]),
            proxy: Some(proxy.clone()),
            proxy_secret: Some("gate".parse().unwrap()),
            extra_ca: Some("corp.pem".into()),
        };
        let told = Network::new(draft.clone()).unwrap();
        assert_eq!((told.deny(), told.allow()), (draft.deny.as_slice(), draft.allow.as_deref()));
        assert_eq!((told.proxy(), told.extra_ca()), (Some(&proxy), Some("corp.pem")));
        assert_eq!(told.proxy_secret(), draft.proxy_secret.as_ref());
        let silent = Network::default();
        assert_eq!((silent.deny(), silent.allow(), silent.proxy(), silent.extra_ca()), (&[][..], None, None, None));
    }

    #[test]
    fn no_list_makes_public_what_is_not() {
        let wide = network(&[], Some(&["8.0.0.0/5", "2000::/3"]));
        for ip in ["10.0.0.1", "127.0.0.1", "169.254.169.254", "2001:db8::1", "2002:808:808::1"] {
            assert_eq!(code(&wide, ip, false), "address_not_public", "{ip}");
        }
        for block in ["10.0.0.0/8", "127.0.0.0/8", "0.0.0.0/0", "192.168.0.0/16", "fd00::/8", "::/0"] {
            let draft = NetworkDraft { allow: Some(vec![block.parse().unwrap()]), ..NetworkDraft::default() };
            assert!(matches!(Network::new(draft), Err(RuleFault::AllowedNotPublic(_))), "{block}");
        }
        assert_eq!(
            code(&network(&[], Some(&[])), "93.184.216.34", false),
            "address_denied",
            "an empty list allows nothing"
        );
    }
}
