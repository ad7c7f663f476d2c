//! The glue socket's words: what a browser's trusted glue may ask and hear. Must never open a budget, claim or quote.
//!
//! The glue is the program that holds the browser: `bursar browser`, or a few lines beside Playwright. It is told which
//! handle to use for which page, redeems it when the browser's request is in its hands, puts the header onto exactly that
//! request, and reports what came back. One ask, one reply, as on the other sockets.

use super::agent::{Receipt, Report};
use bursar_policy::{Handle, Method, PageOpening, SessionName, Setting};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// One ask on the glue socket.
///
/// The order is `Hello`, then for each payment `Next`, `Armed` or `Refuse`, `Redeem`, `Report`, then `Next` again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GlueAsk {
    /// Opens the conversation; must come first and once. One glue serves a session: a second one is the fault
    /// `glue_taken`.
    Hello {
        /// The asker's [`PROTOCOL`](super::PROTOCOL).
        protocol: u16,
        /// The budget session whose payments it makes; absent means the one called `default`.
        session: Option<SessionName>,
    },
    /// Asks for the next payment to make. The answer is held back until there is one, for about 20 seconds; then it is
    /// `Idle`, and the glue asks again. What it was given before and did not report or refuse is no longer waited for.
    Next,
    /// The glue is ready to put the header onto the request. Answered with `Noted`.
    Armed {
        /// The payment's.
        handle: Handle,
    },
    /// The glue cannot do it, and did not redeem. Answered with `Noted`; the handle stays good for its time.
    Refuse {
        /// The payment's.
        handle: Handle,
        /// Why.
        why: GlueRefusal,
    },
    /// Asks for the header, once: only now is the payment signed. Ask when the request is in hand and can be sent.
    ///
    /// The faults are `wrong_url`, `handle_unknown`, `handle_expired`, `handle_used`, `refused`, `purchase_in_flight`.
    /// None of them uses the handle up.
    Redeem {
        /// The payment's.
        handle: Handle,
        /// The whole URL of the request as the browser is about to send it. Origin, path and query must be those that
        /// were prepared.
        url: String,
    },
    /// Tells what came back, for the payment that was redeemed last. Silence may be followed by an answer.
    Report {
        /// The payment's.
        handle: Handle,
        /// What came back. The body is the browser's and is not told.
        report: Box<Report>,
    },
}

/// Why a glue does not make a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlueRefusal {
    /// No browser is connected.
    NoBrowser,
    /// The page is gone, or could not be opened.
    PageGone,
    /// The browser never asked for the page.
    Timeout,
}

impl GlueRefusal {
    /// All of them.
    pub const EVERY: [Self; 3] = [Self::NoBrowser, Self::PageGone, Self::Timeout];

    /// The stable code that the agent hears.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoBrowser => "no_browser",
            Self::PageGone => "page_gone",
            Self::Timeout => "browser_timeout",
        }
    }
}

/// One reply on the glue socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GlueReply {
    /// To `Hello`.
    Welcome(GlueWelcome),
    /// To `Next`: make this payment.
    Attach(Attach),
    /// To `Next`: nothing for now.
    Idle,
    /// To `Armed` and `Refuse`.
    Noted,
    /// To `Redeem`: the header. From here on the money counts as spent.
    Redeemed {
        /// For exactly one request of exactly that URL.
        header: PaymentHeader,
    },
    /// To `Report`.
    Reported {
        /// The row as it now stands.
        receipt: Receipt,
    },
    /// The ask was not understood or could not be served.
    Fault {
        /// A stable code.
        code: String,
        /// One sentence that says what to do next.
        message: String,
    },
}

/// What the vault says about itself to a glue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlueWelcome {
    /// The vault's [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// The session whose payments are made.
    pub session: SessionName,
    /// Real money or a sandbox.
    pub setting: Setting,
}

/// One payment to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// To redeem with.
    pub handle: Handle,
    /// The page: the one URL that the header is for.
    pub url: String,
    /// How it is asked for; always `GET`.
    pub method: Method,
    /// Who makes the browser ask.
    pub open: PageOpening,
    /// Seconds until the handle is over, by the ledger's clock.
    pub expires_in_s: u64,
}

/// The name of the header that carries a payment, by the generation of x402.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HeaderName {
    /// The first generation's.
    #[serde(rename = "X-PAYMENT")]
    XPayment,
    /// The second generation's.
    #[serde(rename = "PAYMENT-SIGNATURE")]
    PaymentSignature,
}

impl HeaderName {
    /// The name as it is sent.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::XPayment => "X-PAYMENT",
            Self::PaymentSignature => "PAYMENT-SIGNATURE",
        }
    }
}

/// A request header that moves money. `Debug` hides it, so that no log line can carry it; wiped when dropped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentHeader {
    name: HeaderName,
    value: HeaderValue,
}

impl PaymentHeader {
    /// A header of this name and value.
    #[must_use]
    pub const fn new(name: HeaderName, value: Zeroizing<String>) -> Self {
        Self { name, value: HeaderValue(value) }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> HeaderName {
        self.name
    }

    /// Standard base64, padded: letters, digits, `+`, `/` and `=` only. Whoever has it can take the money it offers.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value.0
    }
}

impl fmt::Debug for PaymentHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PaymentHeader({}, {} bytes)", self.name.as_str(), self.value.0.len())
    }
}

/// The value of a [`PaymentHeader`] on its way over the socket.
#[derive(Clone, PartialEq, Eq)]
struct HeaderValue(Zeroizing<String>);

impl Serialize for HeaderValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|value| Self(Zeroizing::new(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_sent_whole_and_never_shown() {
        let header = PaymentHeader::new(HeaderName::PaymentSignature, Zeroizing::new("c2VjcmV0".to_owned()));
        let reply = GlueReply::Redeemed { header: header.clone() };
        let sent = serde_json::to_string(&reply).unwrap();
        assert_eq!(sent, r#"{"redeemed":{"header":{"name":"PAYMENT-SIGNATURE","value":"c2VjcmV0"}}}"#);
        assert!(matches!(serde_json::from_str(&sent).unwrap(), GlueReply::Redeemed { header: read } if read == header));
        assert_eq!(format!("{reply:?}"), "Redeemed { header: PaymentHeader(PAYMENT-SIGNATURE, 8 bytes) }");
    }

    #[test]
    fn a_glue_has_no_words_for_anything_else() {
        for foreign in [
            r#"{"claim":{"errand":{}}}"#,
            r#"{"authorize":{}}"#,
            r#"{"unlock":{"passphrase":"x"}}"#,
            r#""status""#,
            r#"{"redeem":{"handle":"h_00","url":"https://a.example/"}}"#,
            r#"{"next":{}}"#,
        ] {
            assert!(serde_json::from_str::<GlueAsk>(foreign).is_err(), "{foreign}");
        }
        assert!(matches!(serde_json::from_str(r#""next""#).unwrap(), GlueAsk::Next));
    }
}
