//! What happens in a life, as plain values: they are drawn, lived, printed and put into `stories.rs`.

/// A sandbox from its making to its end: schedules one after another, each at a host of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    pub(crate) schedules: Vec<Schedule>,
}

/// Calls at one host, one after another or several at once.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Which host, and so which payee and which limit.
    pub(crate) host: usize,
    pub(crate) calls: Vec<Call>,
}

/// One call, what the seller does with its requests, and what else happens.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Which page; few, so that calls repeat one another.
    pub(crate) page: u8,
    /// Which session pays.
    pub(crate) session: usize,
    /// Whether the purchase has a name.
    pub(crate) named: bool,
    /// How long nothing happens before it, in seconds.
    pub(crate) wait_s: u64,
    pub(crate) bare: Bare,
    /// What each showing of the payment gets, the last one for all that follow.
    pub(crate) paid: [Paid; 2],
    pub(crate) strike: Strike,
}

/// What a request without a payment gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Bare {
    /// Terms that may be paid, in one of the forms that there are.
    Terms(Form),
    /// Terms that may not: what is wrong with them.
    Bad(Wrong),
    /// The page, for nothing.
    Free,
    Fails,
    Redirects,
    Silence,
    /// Terms, cut off after so many thousandths.
    Cut(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Form {
    Header,
    Body,
    FirstGeneration,
    WithIdentifier,
    AfterForeignOffers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Wrong {
    Payee,
    Asset,
    Price,
    Host,
    Domain,
    Twice,
    NotJson,
    Identifier,
}

/// What a request with a payment gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Paid {
    /// The page, and a settlement that fits.
    Settles,
    /// The page, without a word on the settlement.
    Delivers,
    /// The page, and a settlement that does not fit.
    Contradicts(Lie),
    /// A failure, without or with a settlement.
    Fails,
    FailsSettled,
    /// Terms again, the same or dearer ones to somebody else.
    AsksAgain,
    AsksForMore,
    Redirects,
    Silence,
    /// The page with its settlement, cut off after so many thousandths.
    Cut(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Lie {
    Payer,
    Network,
    Failure,
    Placeholder,
    NoJson,
}

/// What goes wrong on our own side, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Strike {
    Nothing,
    /// `serve` dies, or the client takes its call back.
    ServeDies(Moment),
    /// The vault dies (SIGKILL) and comes back with what was committed; `serve` lives on.
    VaultDies(Moment),
    /// Both at once.
    BothDie(Moment),
    /// The database refuses a write.
    NoWrite(Write),
    /// The same call is made by another client at the same time.
    Twin,
}

/// When it happens: what the seller has just seen or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Moment {
    Asked,
    Paid,
    Answered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Write {
    Row,
    Total,
    Signature,
    Delivery,
    Event,
}
