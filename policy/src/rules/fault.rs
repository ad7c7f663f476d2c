//! What can be wrong with rules: one sentence each. It must never be shown to a model.

use alloc::string::String;

use crate::address_block::AddressBlock;
use crate::asset::AssetFault;
use crate::calendar::Zone;
use crate::chain::{Address, AssetId, ChainId};
use crate::errand::Method;
use crate::limit::{Scope, Window};
use crate::money::{Currency, Money};
use crate::site::{Host, Origin};
use crate::tag::Tag;

/// Why a draft is not rules. Each says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleFault {
    /// Both `recipients` and `allow_any_recipient`, or neither, under `[payment]`.
    #[error("[payment] needs exactly one of `recipients` and `allow_any_recipient = true`")]
    Recipients,
    /// Nobody as a recipient.
    #[error("`recipients` lists the zero address, where money is lost; remove it")]
    ZeroRecipient,
    /// Both under one `[[host]]`.
    #[error("the host `{0}` has both `recipients` and `allow_any_recipient = true`; keep one of them")]
    HostRecipients(Origin),
    /// A host lists somebody whom `[payment]` does not.
    #[error(
        "the host `{origin}` lists the recipient `{payee}`, which `recipients` of [payment] does not; add it there"
    )]
    RecipientNotInPayment {
        /// The host.
        origin: Origin,
        /// The recipient.
        payee: Address,
    },
    /// `[[host]]` entries beside `allow_any_host`.
    #[error("`allow_any_host = true` contradicts the [[host]] entries; remove one or the other")]
    Hosts,
    /// Real and play money.
    #[error("`{real}` has real money and `{test}` does not; a profile is one or the other")]
    MixedNetworks {
        /// A network with real money.
        real: ChainId,
        /// A test network.
        test: ChainId,
    },
    /// A network nobody has described.
    #[error("the network `{0}` is unknown; correct its number")]
    UnknownNetwork(ChainId),
    /// A network that a sandbox must not touch.
    #[error("the network `{0}` is not allowed in a sandbox; use `eip155:84532`, `eip155:11155111` or `eip155:31337`")]
    NotASandboxNetwork(ChainId),
    /// The local test network outside a sandbox.
    #[error("the network `{0}` is for sandboxes only")]
    SandboxNetwork(ChainId),
    /// An allow list for what no list allows.
    #[error("`allow` of [network] lists `{0}`, which is not all public; it can only narrow down what is public")]
    AllowedNotPublic(AddressBlock),
    /// A proxy that is spoken to in another way.
    #[error("the proxy `{0}` is not plain http; write `http://`, its name and its port")]
    Proxy(Origin),
    /// Shares of limits where all vaults have one ledger.
    #[error(
        "[shares] is for vaults with ledgers of their own, and `ledger` names one that they share; remove one of them"
    )]
    SharesOfOne,
    /// Metrics that nobody can see.
    #[error(
        "[metrics] needs `listen`, where they are read, or `otlp`, where they are sent; name one, or remove [metrics]"
    )]
    MetricsNowhere,
    /// A port that anybody of the machine could read, or a token for a socket that is its owner's alone.
    #[error("[metrics] needs a `token` where `listen` is a port, and only there; add it or remove it")]
    MetricsToken,
    /// A collector elsewhere.
    #[error("`otlp` of [metrics] is `{0}`; it is plain http to a loopback address, such as `http://127.0.0.1:4318`")]
    MetricsCollector(Origin),
    /// Traces for nobody.
    #[error("`traces` of [metrics] needs `otlp`, where they are sent; add it or remove `traces`")]
    MetricsTraces,
    /// A secret for a proxy that there is not.
    #[error("`proxy_secret` of [network] is for a `proxy`; name one, or remove it")]
    IdleProxySecret,
    /// A secret for a seller that is spoken to in plain http.
    #[error("the host `{0}` has `secret_headers` and is not https; a secret is never sent in the clear")]
    SecretInTheClear(Origin),
    /// More secret headers than anybody needs.
    #[error("the host `{0}` has more than 4 `secret_headers`; remove some")]
    ManySecretHeaders(Origin),
    /// A certificate file outside the profile's folder.
    #[error("`extra_ca` is `{}`; it must be a plain file name inside the profile's folder", .0.escape_debug())]
    ExtraCaFile(String),
    /// `[sandbox]` outside one.
    #[error("[sandbox] is allowed in a sandbox only; remove it, or use --sandbox")]
    SandboxTable,
    /// A mapped host that is not loopback.
    #[error("[sandbox] maps `{host}` to `{address}`, which is not a loopback address")]
    NotLoopback {
        /// The host.
        host: Host,
        /// The address.
        address: core::net::IpAddr,
    },
    /// A host that is an address already.
    #[error("[sandbox] maps the address `{0}`; only names can be mapped")]
    MappedAddress(Host),
    /// A certificate file outside the sandbox folder.
    #[error("`ca` is `{}`; it must be a plain file name inside the sandbox folder", .0.escape_debug())]
    CaFile(String),
    /// A scheme nobody can sign.
    #[error("the scheme `{}` is not supported; use `exact`", .0.escape_debug())]
    UnknownScheme(String),
    /// A chain that nothing is paid on.
    #[error("[[chain]] is about `{0}`, which `networks` of [payment] does not list; add it there or remove the entry")]
    IdleChain(ChainId),
    /// No endpoint, or more than anybody needs.
    #[error("`rpc` of the chain `{0}` lists none or more than 5 endpoints; list 1 to 5")]
    Endpoints(ChainId),
    /// More witnesses than there are, or none.
    #[error("`agree` of the chain `{chain}` has to be from 1 to {endpoints}, the number of its endpoints")]
    Agree {
        /// The chain.
        chain: ChainId,
        /// How many endpoints it has.
        endpoints: usize,
    },
    /// An asset nobody has described.
    #[error("the asset `{0}` is unknown; describe it under [[asset]]")]
    UnknownAsset(AssetId),
    /// An asset on a network that is not listed.
    #[error("the asset `{0}` is on a network that `networks` does not list; add the network or remove the asset")]
    AssetWithoutNetwork(AssetId),
    /// A description of an asset that contradicts the table.
    #[error(transparent)]
    Asset(#[from] AssetFault),
    /// No ceiling for an allowed asset's currency.
    #[error("the asset `{asset}` is in `{currency}`, for which `max_per_payment` has no ceiling")]
    CurrencyWithoutCeiling {
        /// The asset.
        asset: AssetId,
        /// Its currency.
        currency: Currency,
    },
    /// A currency that none of the assets is in.
    #[error("`{0}` is in a currency that no listed asset is in; remove it or list an asset")]
    CurrencyWithoutAsset(Money),
    /// An empty list of ceilings.
    #[error("`max_per_payment` is empty; give a ceiling such as `0.05 USD`")]
    NoCeiling,
    /// A ceiling or limit of nothing.
    #[error("`{0}` as a ceiling or limit allows nothing; give an amount above zero")]
    ZeroMoney(Money),
    /// A ceiling or limit finer than an asset can pay.
    #[error("`{money}` is finer than the asset `{asset}` can pay; give fewer decimals")]
    TooFine {
        /// The ceiling or limit.
        money: Money,
        /// The asset.
        asset: AssetId,
    },
    /// A host's ceiling above the general one.
    #[error("the host `{origin}` has the ceiling `{ceiling}` above that of [payment], `{general}`; lower it")]
    HostCeiling {
        /// The host.
        origin: Origin,
        /// Its ceiling.
        ceiling: Money,
        /// The general ceiling.
        general: Money,
    },
    /// A limit without anything to hold.
    #[error("the limit `{scope}` over `{window}` has neither `max` nor `count`; give at least one")]
    EmptyLimit {
        /// Its scope.
        scope: Scope,
        /// Its window.
        window: Window,
    },
    /// A count of zero.
    #[error("the limit `{scope}` over `{window}` has `count = 0`, which allows nothing; give a number above zero")]
    ZeroCount {
        /// Its scope.
        scope: Scope,
        /// Its window.
        window: Window,
    },
    /// A time zone whose rules cannot be read.
    #[error("the rules of the time zone `{0}` cannot be read; name another one")]
    Zone(Zone),
    /// Hours or days of nowhere.
    #[error("`hours` and `days` of [payment] need a `time_zone` such as `Europe/Berlin`")]
    HoursWithoutZone,
    /// A time zone that nothing is meant in.
    #[error("`time_zone` of [payment] is for `hours` and `days`; remove it, or give one of them")]
    ZoneWithoutHours,
    /// No day at all.
    #[error("`days` is empty, which allows nothing; name a day, or remove it for every day")]
    NoDay,
    /// Two limits on one thing.
    #[error("the limit `{scope}` over `{window}` is given twice; keep one of them")]
    LimitTwice {
        /// Its scope.
        scope: Scope,
        /// Its window.
        window: Window,
    },
    /// A limit over a tag that nothing carries.
    #[error("the limit of the tag `{0}` concerns nothing: no [[host]] and no [[payee]] carries it; correct the tag")]
    IdleTag(Tag),
    /// A tag that sends nothing to a person.
    #[error("`approve_tags` names `{0}`, which no [[host]] and no [[payee]] carries; correct the tag")]
    IdleApproveTag(Tag),
    /// A first payee where the payees are listed.
    #[error("the host `{0}` has a `first_payee` although its payees are listed; remove one of the two")]
    IdleFirstPayee(Origin),
    /// More tags than anybody needs.
    #[error("`{0}` has more than 8 tags; remove some")]
    ManyTags(String),
    /// The mode `fields` without any.
    #[error("the host `{0}` has `content = \"fields\"` and no `fields`; list JSON pointers such as `/price`")]
    NoFields(Origin),
    /// Fields in another mode.
    #[error("the host `{0}` has `fields` without `content = \"fields\"`; remove them or set that mode")]
    IdleFields(Origin),
    /// More fields than anybody needs.
    #[error("the host `{0}` has more than 32 `fields`; remove some")]
    ManyFields(Origin),
    /// A payee that is described and may not be paid.
    #[error("[[payee]] describes `{0}`, which `recipients` of [payment] does not list; add it there")]
    IdlePayee(Address),
    /// Something listed twice.
    #[error("`{what}` lists `{}` twice; remove one", .value.escape_debug())]
    Twice {
        /// The list.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A wildcard.
    #[error("`{}` contains a wildcard; list every value by itself", .0.escape_debug())]
    Wildcard(String),
    /// Plain http where it is not allowed.
    #[error(
        "the host `{0}` is not https; http is allowed in a sandbox only, for a host that [sandbox] maps to loopback"
    )]
    PlainHttp(Origin),
    /// A body limit where no body is sent.
    #[error("the host `{0}` has a `body_limit` without the method `POST`; add the method or remove the limit")]
    BodyLimitWithoutPost(Origin),
    /// A duration or size that cannot work.
    #[error("`{what}` is `{value}`; give {least} to {most}")]
    OutOfRange {
        /// The key.
        what: &'static str,
        /// Its value.
        value: String,
        /// The least that works.
        least: String,
        /// The most that is sensible.
        most: String,
    },
    /// A method listed for a host twice.
    #[error("the host `{origin}` lists the method `{method}` twice; remove one")]
    MethodTwice {
        /// The host.
        origin: Origin,
        /// The method.
        method: Method,
    },
}
