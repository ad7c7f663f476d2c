//! A resolver that knows what a story tells it, and remembers what it was asked. It never asks anybody else.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use bursar::net::{LookupFault, Resolver};

/// Names and the addresses that they have in one story. Copies share what they were asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    names: BTreeMap<String, Vec<IpAddr>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub(crate) fn new(names: BTreeMap<String, Vec<IpAddr>>) -> Self {
        Self { names, asked: Arc::default() }
    }

    /// Every name it was asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Script {
    async fn lookup(&self, host: &str, _port: u16) -> Result<Vec<IpAddr>, LookupFault> {
        self.asked.lock().unwrap().push(host.to_owned());
        self.names.get(host).cloned().ok_or(LookupFault::NoAnswer)
    }
}
