//! A shell that is made up: what it answers stands in the path of the URL.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bursar_policy::errand::{ApprovalId, Errand, PaymentId, QuoteId};
use bursar_policy::{Address, ChainId, Digest, Handle, Method, PageOpening, Refusal, Scope, Window};
use bursar_tools::payments::{
    Attachment, Books, Content, ContentKind, Field, FieldValue, LimitLine, Noticed, OtherMethod, PaymentState,
    Preparation, Price, Purchase, Quote, Reason, Recall, Receipt, SessionLine, SessionState, Shown, Standing, View,
    Wanted,
};
use bursar_tools::{Payments, Progress, SellerText, Stage};
use tokio::sync::watch;

/// Counts what it did, and holds purchases of `/held` back until it is told to let go.
pub(crate) struct Shell {
    pub(crate) asked: Mutex<Vec<(Errand, Option<Vec<u8>>)>>,
    pub(crate) begun: watch::Sender<usize>,
    pub(crate) finished: AtomicUsize,
    pub(crate) unwanted: AtomicUsize,
    pub(crate) words: Mutex<String>,
    pub(crate) standing: Mutex<Standing>,
    pub(crate) refusals: Mutex<Vec<Refusal>>,
    /// Where the operator's console shows what waits, up to the id.
    pub(crate) page: Mutex<Option<String>>,
    /// Whether the operator said yes to what waits.
    pub(crate) decided: watch::Sender<bool>,
    let_go: watch::Sender<bool>,
}

impl Shell {
    pub(crate) fn new() -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self {
            asked: Mutex::new(Vec::new()),
            begun: watch::Sender::new(0),
            finished: AtomicUsize::new(0),
            unwanted: AtomicUsize::new(0),
            words: Mutex::new("hello".to_owned()),
            standing: Mutex::new(Standing::Known(Box::new(books()))),
            refusals: Mutex::new(Vec::new()),
            page: Mutex::new(None),
            decided: watch::Sender::new(false),
            let_go: watch::Sender::new(false),
        })
    }

    /// Lets held purchases go on.
    pub(crate) fn let_go(&self) {
        self.let_go.send_replace(true);
    }

    /// Waits until `count` purchases have begun.
    pub(crate) async fn begun(&self, count: usize) {
        let mut begun = self.begun.subscribe();
        crate::client::within(begun.wait_for(|begun| count <= *begun)).await.unwrap();
    }

    pub(crate) fn finished(&self) -> usize {
        self.finished.load(Ordering::SeqCst)
    }

    fn words(&self) -> SellerText {
        SellerText::from(self.words.lock().unwrap().as_str())
    }

    fn fields(&self) -> Vec<Field> {
        [
            FieldValue::Text(self.words()),
            FieldValue::Number(self.words()),
            FieldValue::Bool(true),
            FieldValue::Bool(false),
            FieldValue::Null,
            FieldValue::NotAScalar,
            FieldValue::Missing,
        ]
        .into_iter()
        .enumerate()
        .map(|(place, value)| Field { pointer: format!("/{place}"), value })
        .collect()
    }

    fn purchase(&self, errand: &Errand) -> Purchase {
        let site = &errand.site;
        let reason = || Reason::new("no_answer", "the seller did not answer in time");
        match site.path() {
            "/free" => Purchase::Free { content: content("json", Shown::Withheld), note: None },
            "/not-x402" => Purchase::Free {
                content: Content { status: 402, ..content("text", Shown::Text(self.words())) },
                note: Some(Reason::new("not_x402", "the seller answered 402 without x402 terms")),
            },
            "/paid" | "/held" => Purchase::Paid { receipt: receipt(), content: content("json", Shown::Withheld) },
            "/text" => Purchase::Paid { receipt: receipt(), content: content("html", Shown::Text(self.words())) },
            "/text-file" => Purchase::Paid { receipt: receipt(), content: content("json", file(Some(self.words()))) },
            "/image" => Purchase::Paid { receipt: receipt(), content: content("png", Shown::Text(self.words())) },
            "/fields" => Purchase::Paid { receipt: receipt(), content: content("json", Shown::Fields(self.fields())) },
            "/no-fields" => Purchase::Paid {
                receipt: receipt(),
                content: content("html", Shown::NoFields(Reason::new("not_json", "the body is not one JSON document"))),
            },
            "/file" => Purchase::Paid { receipt: receipt(), content: content("pdf", file(None)) },
            "/repeat" => Purchase::Paid {
                receipt: Receipt { repeat: true, ..receipt() },
                content: content("json", Shown::Withheld),
            },
            "/transaction" => Purchase::Paid {
                receipt: Receipt { transaction: Some(self.words.lock().unwrap().clone()), ..receipt() },
                content: content("json", Shown::Withheld),
            },
            "/lost" => Purchase::PaidContentLost {
                receipt: receipt(),
                reason: Reason::new("content_lost", "paid, but the body could not be stored"),
            },
            "/unresolved" => Purchase::Unresolved {
                receipt: Receipt { state: PaymentState::Exposed, ..receipt() },
                reason: reason(),
                content: None,
                seller_says: None,
            },
            "/unresolved-words" => Purchase::Unresolved {
                receipt: Receipt { state: PaymentState::Exposed, ..receipt() },
                reason: reason(),
                content: Some(Content { status: 500, ..content("text", Shown::Text(self.words())) }),
                seller_says: Some(self.words()),
            },
            "/redirect" => Purchase::Refused {
                refusals: vec![Refusal::RedirectRefused {
                    status: 302,
                    location: bursar_policy::Quoted::of(&self.words.lock().unwrap()),
                }],
            },
            "/scripted" => Purchase::Refused { refusals: self.refusals.lock().unwrap().clone() },
            "/refused" => Purchase::Refused { refusals: vec![Refusal::NoOffers] },
            "/locked" => Purchase::Refused { refusals: vec![Refusal::WalletLocked] },
            "/approval" if !*self.decided.borrow() => {
                Purchase::NeedsApproval { approval: ApprovalId::from_random([3; 16]), expires_s: 1_796_000_000 }
            }
            "/approval" => Purchase::Paid { receipt: receipt(), content: content("json", Shown::Withheld) },
            "/failed" => Purchase::Failed(Reason::new("dns_failure", "the name of the seller can not be found")),
            "/panic" => panic!("a fault of the shell"),
            other => panic!("the shell has no answer for {other}"),
        }
    }
}

impl Payments for Shell {
    fn approval_page(&self, approval: &str) -> Option<String> {
        self.page.lock().unwrap().as_ref().map(|page| format!("{page}{approval}"))
    }

    async fn decided(&self, approval: &str) {
        assert_eq!(approval, ApprovalId::from_random([3; 16]).as_str());
        self.decided.subscribe().wait_for(|decided| *decided).await.unwrap();
    }

    async fn fetch(&self, errand: Errand, body: Option<Vec<u8>>, progress: Progress) -> Noticed<Purchase> {
        let held = errand.site.path() == "/held";
        self.asked.lock().unwrap().push((errand.clone(), body));
        progress.at(Stage::Claiming);
        self.begun.send_modify(|begun| *begun = begun.saturating_add(1));
        progress.at(Stage::Visiting);
        if held {
            self.let_go.subscribe().wait_for(|let_go| *let_go).await.unwrap();
        }
        progress.at(Stage::Paying);
        // Out of order: must not be told.
        progress.at(Stage::Judging);
        if !progress.wanted() {
            self.unwanted.fetch_add(1, Ordering::SeqCst);
        }
        let purchase = self.purchase(&errand);
        self.finished.fetch_add(1, Ordering::SeqCst);
        noticed(purchase, &errand)
    }

    async fn recall(&self, wanted: Wanted) -> Recall {
        let found = |shown| Recall::Found { content: content("json", shown), delivered_s: 1_796_000_000 };
        let too_wide = || Recall::TooWide(Reason::new("view_not_allowed", "the rules do not show that"));
        let not = |code| Recall::Not(Reason::new(code, "no such copy is stored"));
        match wanted {
            Wanted::Content { digest, view } if digest == Digest::of(b"hello") => match view {
                None | Some(View::Text) => found(Shown::Text(self.words())),
                Some(View::Fields(_)) => found(Shown::Fields(self.fields())),
                Some(View::Withhold) => found(Shown::LeftOut),
                Some(View::File) => too_wide(),
            },
            Wanted::Request { view: Some(View::File), .. } => too_wide(),
            Wanted::Content { .. } => not("content_unknown"),
            Wanted::Request { errand, max_age_s: 60, .. } if errand.site.path() == "/paid" => found(Shown::Withheld),
            Wanted::Request { .. } => not("content_unknown"),
        }
    }

    async fn prepare(&self, errand: Errand, progress: Progress) -> Preparation {
        self.asked.lock().unwrap().push((errand.clone(), None));
        progress.at(Stage::Authorizing);
        let held = Receipt { state: PaymentState::Held, ..receipt() };
        match errand.site.path() {
            "/paid" => Preparation::Prepared { handle: handle(1), expires_in_s: 90, receipt: held },
            "/again" => Preparation::Prepared {
                handle: handle(1),
                expires_in_s: 90,
                receipt: Receipt { repeat: true, state: PaymentState::Exposed, ..receipt() },
            },
            "/free" => Preparation::Free { note: None },
            "/not-x402" => {
                Preparation::Free { note: Some(Reason::new("not_x402_html", "the seller answered 402 with a page")) }
            }
            "/repeat" => Preparation::Paid { receipt: Receipt { repeat: true, ..receipt() } },
            "/unresolved" => Preparation::Unresolved {
                receipt: Receipt { repeat: true, state: PaymentState::Exposed, ..receipt() },
                reason: Reason::new("unresolved_before", "nobody wrote down what the seller answered"),
            },
            "/approval" => {
                Preparation::NeedsApproval { approval: ApprovalId::from_random([3; 16]), expires_s: 1_796_000_000 }
            }
            "/redirect" => Preparation::Refused {
                refusals: vec![Refusal::RedirectRefused {
                    status: 302,
                    location: bursar_policy::Quoted::of(&self.words.lock().unwrap()),
                }],
            },
            "/refused" => Preparation::Refused { refusals: vec![Refusal::NoOffers] },
            "/failed" => Preparation::Failed(Reason::new("tls_failed", "the seller has no valid certificate")),
            "/panic" => panic!("a fault of the shell"),
            other => panic!("the shell prepares nothing for {other}"),
        }
    }

    async fn attach(&self, handle_given: Handle, open: PageOpening) -> Attachment {
        let site = bursar_policy::Site::parse("https://shop.example/paid?secret=1").unwrap();
        let held = Receipt { state: PaymentState::Held, ..receipt() };
        let reason = |code| Reason::new(code, "the browser did not do it");
        let handles: Vec<Handle> = (1..=6).map(handle).collect();
        match handles.iter().position(|known| *known == handle_given) {
            Some(0) if open == PageOpening::Wait => Attachment::Armed { site, receipt: held, expires_in_s: 80 },
            Some(0) => Attachment::Paid { site, receipt: receipt() },
            Some(1) => Attachment::Unresolved {
                site,
                receipt: Receipt { state: PaymentState::Exposed, ..receipt() },
                reason: reason("browser_silent"),
            },
            Some(2) => Attachment::NotYet { site, receipt: held, expires_in_s: 80, reason: reason("no_browser_glue") },
            Some(3) => Attachment::Refused { refusals: vec![Refusal::Frozen] },
            Some(4) => Attachment::Paid { site, receipt: Receipt { repeat: true, ..receipt() } },
            Some(5) => panic!("a fault of the shell"),
            _ => Attachment::Failed(Reason::new("handle_unknown", "no such handle is known")),
        }
    }

    async fn quote(&self, errand: Errand, body: Option<Vec<u8>>) -> Noticed<Quote> {
        self.asked.lock().unwrap().push((errand.clone(), body));
        let quote = match errand.site.path() {
            "/free" => Quote::Free { content: content("text", Shown::Text(self.words())), note: None },
            "/not-x402" => Quote::Free {
                content: content("html", Shown::Withheld),
                note: Some(Reason::new("not_x402_html", "the seller answered 402 with a page")),
            },
            "/paid" => Quote::Payable {
                quote: QuoteId::from_random([7; 16]),
                price: Price {
                    money: "0.01 USD".parse().unwrap(),
                    symbol: "USDC".to_owned(),
                    chain: ChainId::BASE_SEPOLIA,
                    payee: payee(),
                    description: Some(self.words()),
                },
            },
            "/approval" => Quote::NeedsApproval,
            "/refused" => Quote::Refused { refusals: vec![Refusal::NoOffers] },
            "/failed" => Quote::Failed(Reason::new("tls_failed", "the seller has no valid certificate")),
            other => panic!("the shell has no quote for {other}"),
        };
        noticed(quote, &errand)
    }

    async fn status(&self) -> Standing {
        self.standing.lock().unwrap().clone()
    }
}

/// The answer, and the method that the query of the URL says is described.
fn noticed<T>(answer: T, errand: &Errand) -> Noticed<T> {
    let described = ["GET", "POST", "PUT"].into_iter().find(|word| errand.site.url().ends_with(word));
    let other_method = described.map(|documented| OtherMethod { asked: Method::Get, documented });
    Noticed { answer, other_method }
}

pub(crate) fn payee() -> Address {
    "0x2222222222222222222222222222222222222222".parse().unwrap()
}

pub(crate) fn receipt() -> Receipt {
    Receipt {
        payment: PaymentId::from_random([1; 16]),
        state: PaymentState::Settled,
        money: "0.01 USD".parse().unwrap(),
        symbol: "USDC".to_owned(),
        chain: ChainId::BASE_SEPOLIA,
        payee: payee(),
        transaction: Some(format!("0x{}", "aB".repeat(32))),
        expires_s: 1_796_000_000,
        repeat: false,
    }
}

pub(crate) fn books() -> Books {
    Books {
        locked: false,
        frozen: false,
        latched: false,
        outside_hours: None,
        mandate_missing: false,
        payer: Some(payee()),
        session: Some(SessionLine {
            name: "default".parse().unwrap(),
            budget: "1.00 USD".parse().unwrap(),
            spent: "0.25 USD".parse().unwrap(),
            expires_s: 1_796_000_000,
            state: SessionState::Open,
            mandate: None,
        }),
        limits: vec![
            LimitLine {
                scope: Scope::All,
                window: "24h".parse().unwrap(),
                money: Some(("5 USD".parse().unwrap(), "1.5 USD".parse().unwrap())),
                count: None,
            },
            LimitLine { scope: Scope::Session, window: Window::Lifetime, money: None, count: Some((20, 3)) },
            LimitLine { scope: Scope::Payee, window: Window::Lifetime, money: None, count: Some((77, 3)) },
        ],
        held: vec!["0.01 USD".parse().unwrap()],
        unresolved: vec![Receipt { state: PaymentState::Exposed, ..receipt() }],
        approvals_waiting: 0,
        next_step: None,
    }
}

fn file(preview: Option<SellerText>) -> Shown {
    Shown::File { path: "/content/ab".to_owned(), preview }
}

fn content(kind: &str, shown: Shown) -> Content {
    Content {
        status: 200,
        kind: ContentKind::named(kind),
        bytes: 5,
        digest: Digest::of(b"hello"),
        truncated: false,
        shown,
    }
}

/// A handle that the shell knows.
pub(crate) fn handle(byte: u8) -> Handle {
    Handle::from_random([byte; 24])
}
