//! What a vault reaches outside of this machine, by way of whoever starts it. Must never speak to anybody by itself.

use std::sync::Arc;

use crate::chain::Chains;
use crate::notify::{Courier, NoCourier};

/// The ways out: to the chains and to the webhook that the rules name. There is no other.
#[derive(Clone, Debug)]
pub struct Outside {
    pub(crate) chains: Arc<dyn Chains>,
    pub(crate) courier: Arc<dyn Courier>,
}

impl Outside {
    /// By way of `chains` and `courier`.
    #[must_use]
    pub fn new(chains: Arc<dyn Chains>, courier: Arc<dyn Courier>) -> Self {
        Self { chains, courier }
    }
}

/// With a way to chains, and none to a webhook.
impl<C: Chains + 'static> From<Arc<C>> for Outside {
    fn from(chains: Arc<C>) -> Self {
        Self::new(chains, Arc::new(NoCourier))
    }
}
