//! Payment rows: in and out of the table, and the digest that ties a row to the log. Must never decide anything.

use bursar_policy::authorization::Authorization;
use bursar_policy::chain::Address;
use bursar_policy::digest::Digest;
use bursar_policy::errand::{Errand, Method, PaymentId, PurchaseId, SessionId};
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::{Currency, Money};
use bursar_policy::quoted::Quoted;
use bursar_policy::site::Site;
use bursar_policy::tag::Tag;
use bursar_policy::terms::Terms;

use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::states::{self, RowState, domain};
use super::store::{Cell, Row, Store, Value, bound};
use super::{prove, report};
use crate::protocol::{ChainProof, ChainVerdict, Delivery, Outstanding, Past, Receipt, SettlementClaim, Signed};

/// One payment as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) id: PaymentId,
    pub(super) state: RowState,
    pub(super) session: SessionId,
    pub(super) identity: Digest,
    pub(super) subject: Digest,
    pub(super) purchase_id: Option<PurchaseId>,
    pub(super) site: Site,
    pub(super) method: Method,
    pub(super) body: Option<Digest>,
    pub(super) terms: Terms,
    pub(super) symbol: String,
    pub(super) payer: Address,
    pub(super) money: Money,
    pub(super) tags: Vec<Tag>,
    pub(super) nonce: [u8; 32],
    pub(super) valid_after: u64,
    pub(super) valid_before: u64,
    pub(super) envelope: String,
    pub(super) created_s: u64,
    pub(super) signature: Option<(String, u64)>,
    pub(super) delivery: Option<Delivery>,
    pub(super) claim: Option<SettlementClaim>,
    pub(super) transaction: Option<String>,
    pub(super) ended_s: Option<u64>,
    pub(super) proof: Option<ChainProof>,
}

/// The outcome words of a receipt.
const PAID: &str = "paid";
const PAID_CONTENT_LOST: &str = "paid_content_lost";
const UNRESOLVED: &str = "unresolved";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, state, session, identity, subject, purchase_id, url, method, body, terms, symbol, payer, amount, \
             money, currency, nonce, valid_after, valid_before, envelope, created_s, signature, signed_s, delivery, \
             claim, tx, ended_s, (SELECT string_agg(tag, ' ') FROM payment_tag WHERE payment_tag.payment = payment.id), \
             (SELECT '{\"verdict\":\"' || verdict || '\",\"block\":' || block || ',\"hash\":\"' || hash || '\",\"block_s\":' || \
              block_s || ',\"transaction\":' || coalesce('\"' || tx || '\"', 'null') || ',\"witnesses\":' || witnesses || \
              ',\"denies\":' || CASE WHEN denies = 1 THEN 'true' ELSE 'false' END || ',\"proved_s\":' || proved_s || '}' \
              FROM proof WHERE proof.payment = payment.id) \
             FROM payment ",
            $rest
        )
    };
}

pub(super) const BY_ID: &str = select!("WHERE id = ?1");
pub(super) const BY_IDENTITY: &str = select!("WHERE identity = ?1 ORDER BY seq DESC LIMIT 1");
pub(super) const DUE: &str = select!(
    "WHERE state IN ('held', 'exposed') AND state = 'exposed' AND valid_before <= ?1 ORDER BY valid_before LIMIT 64"
);
pub(super) const OPEN_OF_SESSION: &str =
    select!("WHERE state IN ('held', 'exposed') AND session = ?1 ORDER BY seq DESC LIMIT ?2");
pub(super) const OPEN: &str = select!("WHERE state IN ('held', 'exposed') ORDER BY valid_before DESC LIMIT ?1");
/// The payment that a body was delivered for last.
pub(super) const BY_CONTENT: &str = select!(
    "WHERE delivery IS NOT NULL AND json_extract(delivery, '$.answer.content.digest') = ?1 ORDER BY seq DESC LIMIT 1"
);
/// The last good delivery to a request, of a payment that was counted at this time or later.
pub(super) const DELIVERED: &str = select!(
    "WHERE subject = ?1 AND created_s >= ?2 \
     AND CAST(json_extract(delivery, '$.answer.status') AS INTEGER) BETWEEN 200 AND 299 \
     AND json_extract(delivery, '$.answer.content_error') IS NULL \
     AND json_extract(delivery, '$.answer.content.digest') IS NOT NULL ORDER BY seq DESC LIMIT 1"
);
/// An id that is not there stands for the beginning.
pub(super) const AFTER: &str =
    select!("WHERE seq > coalesce((SELECT seq FROM payment WHERE id = ?1), 0) ORDER BY seq LIMIT ?2");
/// An id that is not there stands for the end.
pub(super) const BEFORE: &str = select!(
    "WHERE seq < coalesce((SELECT seq FROM payment WHERE id = ?1), 9223372036854775807) ORDER BY seq DESC LIMIT ?2"
);
/// What ran out at an origin, or for a payee on a chain; whether it is lost is not a question for the database.
pub(super) const RAN_OUT_AT_HOST: &str = select!("WHERE state = 'presumed_spent' AND origin = ?1 ORDER BY seq");
pub(super) const RAN_OUT_FOR_PAYEE: &str =
    select!("WHERE state = 'presumed_spent' AND chain = ?1 AND payee = ?2 ORDER BY seq");
pub(super) const ALL: &str = select!("ORDER BY seq");

pub(super) const INSERT: &str = "INSERT INTO payment (id, state, session, identity, subject, purchase_id, origin, url,
        method, body, terms, version, chain, asset, symbol, payee, payer, amount, money, currency, nonce, valid_after,
        valid_before, envelope, created_s, updated_s)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
        ?24, ?25, ?25)";

const INSERT_TAG: &str = "INSERT INTO payment_tag (payment, tag) VALUES (?1, ?2)";

pub(super) const TAGS: &str = "SELECT tag FROM payment_tag WHERE payment = ?1 ORDER BY tag";

impl Payment {
    /// What it was asked for by, as far as that is kept: the caller's ceiling, quote and doubt were heard when it was
    /// counted. It is the same purchase only where no body and no headers went along.
    pub(super) fn errand(&self) -> Errand {
        Errand { purchase_id: self.purchase_id.clone(), ..Errand::new(self.site.clone(), self.method) }
    }

    /// What limits may ask about it.
    pub(super) fn facts(&self) -> PaymentFacts {
        PaymentFacts {
            session: self.session.clone(),
            site: self.site.clone(),
            payee: self.terms.payee,
            asset: self.terms.asset_id(),
            money: self.money,
            tags: self.tags.clone(),
        }
    }

    /// What is signed, or was.
    pub(super) fn authorization(&self) -> Authorization {
        Authorization {
            from: self.payer,
            to: self.terms.payee,
            value: self.terms.amount,
            valid_after: self.valid_after,
            valid_before: self.valid_before,
            nonce: self.nonce,
        }
    }

    /// The signed payment; `None` while there is no signature.
    pub(super) fn signed(&self) -> Option<Signed> {
        let (signature, signed_at_s) = self.signature.clone()?;
        Some(Signed {
            payment: self.id.clone(),
            authorization: self.authorization(),
            signature,
            payer: self.payer,
            domain: domain(&self.terms),
            version: self.terms.version,
            envelope: self.envelope.clone(),
            terms: self.terms.clone(),
            signed_at_s,
        })
    }

    /// What may be told about it.
    pub(super) fn receipt(&self, identical_repeat: bool) -> Receipt {
        Receipt {
            payment: self.id.clone(),
            state: self.state,
            amount: self.terms.amount,
            money: self.money,
            symbol: self.symbol.clone(),
            chain: self.terms.chain,
            payee: self.terms.payee,
            transaction: self.known_transaction(),
            outcome: self.outcome().to_owned(),
            created_s: self.created_s,
            valid_before: self.valid_before,
            identical_repeat,
        }
    }

    /// The same, with what was asked for; for the operator alone.
    pub(super) fn outstanding(&self) -> Outstanding {
        Outstanding {
            receipt: self.receipt(false),
            origin: self.site.origin().clone(),
            path: Quoted::of(self.site.path()),
        }
    }

    /// The transaction that paid: the one that a chain shows, or else the one that the seller names and no chain denies.
    fn known_transaction(&self) -> Option<String> {
        match &self.proof {
            Some(proof) if proof.verdict == ChainVerdict::Paid => proof.transaction.clone(),
            Some(_) => None,
            None => self.transaction.clone(),
        }
    }

    /// The digest of the terms as they are stored.
    pub(super) fn terms_digest(&self) -> Result<Digest, LedgerFault> {
        Ok(Digest::of(json(&self.terms)?.as_bytes()))
    }

    /// Its result, for an identical call later.
    pub(super) fn past(&self) -> Past {
        Past { receipt: self.receipt(true), delivery: self.delivery.clone() }
    }

    /// Whether an identical call is told that nobody knows how it ended.
    pub(super) fn is_unresolved(&self) -> bool {
        self.state != RowState::Lapsed && self.outcome() == UNRESOLVED
    }

    /// Whether a seller's answer was reported.
    pub(super) const fn is_answered(&self) -> bool {
        matches!(self.delivery, Some(Delivery::Answer { .. }))
    }

    /// Whether the seller answered that it delivers.
    pub(super) const fn is_delivered(&self) -> bool {
        matches!(self.delivery, Some(Delivery::Answer { status: 200..=299, .. }))
    }

    /// What an identical call later is told. The seller has the payment and delivered: that is paid, unless what it says
    /// of the settlement contradicts our row. Whether the money is known to have moved is the state's to say.
    fn outcome(&self) -> &'static str {
        let delivered = self.is_delivered();
        let has_content = delivered && matches!(self.delivery, Some(Delivery::Answer { content_error: None, .. }));
        let contradicted = self.claim.as_ref().is_some_and(|claim| !report::agrees(claim, self));
        match (self.state, delivered && !contradicted) {
            (RowState::Settled, _) | (RowState::Exposed | RowState::PresumedSpent | RowState::Lapsed, true) => {
                if has_content {
                    PAID
                } else {
                    PAID_CONTENT_LOST
                }
            }
            _ => UNRESOLVED,
        }
    }
}

/// Adds a row, held or exposed.
pub(super) fn insert(conn: &Store, row: &Payment) -> Result<(), LedgerFault> {
    conn.execute(
        INSERT,
        bound![
            row.id.as_str(),
            row.state.word(),
            row.session.as_str(),
            row.identity.to_string(),
            row.subject.to_string(),
            row.purchase_id.as_ref().map(PurchaseId::as_str),
            row.site.origin().to_string(),
            row.site.url(),
            row.method.as_str(),
            row.body.map(|digest| digest.to_string()),
            json(&row.terms)?,
            row.terms.version.number(),
            row.terms.chain.to_string(),
            row.terms.asset.to_string(),
            row.symbol,
            row.terms.payee.to_string(),
            row.payer.to_string(),
            wide(row.terms.amount.units()),
            wide(row.money.atto()),
            row.money.currency().letters(),
            hex::encode(row.nonce),
            to_sql(row.valid_after)?,
            to_sql(row.valid_before)?,
            row.envelope,
            to_sql(row.created_s)?,
        ],
    )?;
    for tag in &row.tags {
        conn.execute(INSERT_TAG, bound![row.id.as_str(), tag.as_str()])?;
    }
    Ok(())
}

/// The payment with this id.
pub(super) fn by_id(conn: &Store, id: &PaymentId) -> Result<Payment, LedgerFault> {
    let found = first(conn, BY_ID, id.as_str())?;
    found.ok_or_else(|| LedgerFault::NoSuchPayment { id: id.to_string() })
}

/// The newest payment of this identity.
pub(super) fn by_identity(conn: &Store, identity: &Digest) -> Result<Option<Payment>, LedgerFault> {
    first(conn, BY_IDENTITY, &identity.to_string())
}

/// Every payment that `sql`, one of the queries above, finds.
pub(super) fn list(conn: &Store, sql: &str, bound: &[Value<'_>]) -> Result<Vec<Payment>, LedgerFault> {
    conn.every(sql, bound, read)
}

/// Hands every payment to `visit`, oldest first, one at a time.
pub(super) fn each<F>(conn: &Store, visit: F) -> Result<(), LedgerFault>
where
    F: FnMut(Payment) -> Result<(), LedgerFault>,
{
    each_of(conn, ALL, bound![], visit)
}

/// Hands every payment that `sql`, one of the queries above, finds to `visit`, one at a time.
pub(super) fn each_of<F>(conn: &Store, sql: &str, bound: &[Value<'_>], mut visit: F) -> Result<(), LedgerFault>
where
    F: FnMut(Payment) -> Result<(), LedgerFault>,
{
    conn.each(sql, bound, |row| visit(read(row)?))
}

/// The digest of everything a row says now. It goes into the event of every change, so that the log's chain also covers
/// the rows.
pub(super) fn fact(conn: &Store, id: &PaymentId) -> Result<Digest, LedgerFault> {
    let found = conn.first("SELECT * FROM payment WHERE id = ?1", bound![id.as_str()], cells)?;
    let mut parts = found.ok_or_else(|| LedgerFault::NoSuchPayment { id: id.to_string() })?;
    parts.extend(conn.every(TAGS, bound![id.as_str()], |row| Ok(tagged(b'g', row.get::<String>(0)?.as_bytes())))?);
    parts.extend(prove::fact(conn, id)?);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Digest::of_parts(&parts))
}

/// A value as it is stored.
pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, LedgerFault> {
    serde_json::to_string(value).map_err(|fault| LedgerFault::Rule { detail: fault.to_string() })
}

/// Every cell of a row, each told apart from one of another kind: what a digest of the row is made of.
pub(super) fn cells(row: &Row<'_>) -> Result<Vec<Vec<u8>>, LedgerFault> {
    let part = |column| {
        Ok(match row.cell(column)? {
            Cell::Null => Vec::new(),
            Cell::Number(number) => tagged(b'i', &number.to_be_bytes()),
            Cell::Text(text) => tagged(b't', text.as_bytes()),
        })
    };
    (0..row.width()).map(part).collect()
}

pub(super) fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut part = vec![tag];
    part.extend_from_slice(bytes);
    part
}

fn first(conn: &Store, sql: &str, key: &str) -> Result<Option<Payment>, LedgerFault> {
    Ok(list(conn, sql, bound![key])?.into_iter().next())
}

/// Reads a row of one of the queries above.
fn read(row: &Row<'_>) -> Result<Payment, LedgerFault> {
    let terms: Terms = from_json(&row.get::<String>(9)?)?;
    let currency: Currency = parsed(row, 14)?;
    let amount = narrow(&row.get::<String>(12)?)?;
    if terms.amount.units() != amount {
        return Err(unreadable());
    }
    let mut nonce = [0; 32];
    hex::decode_to_slice(row.get::<String>(15)?, &mut nonce).map_err(|_fault| unreadable())?;
    let signature: Option<String> = row.get(20)?;
    let signed_s: Option<i64> = row.get(21)?;
    Ok(Payment {
        id: parsed(row, 0)?,
        state: states::from_word(&row.get::<String>(1)?).ok_or_else(unreadable)?,
        session: parsed(row, 2)?,
        identity: parsed(row, 3)?,
        subject: parsed(row, 4)?,
        purchase_id: maybe(row, 5, |text| text.parse().ok())?,
        site: Site::parse(&row.get::<String>(6)?).map_err(|_fault| unreadable())?,
        method: parsed(row, 7)?,
        body: maybe(row, 8, |text| text.parse().ok())?,
        terms,
        symbol: row.get(10)?,
        payer: parsed(row, 11)?,
        money: Money::new(currency, narrow(&row.get::<String>(13)?)?),
        nonce,
        valid_after: from_sql(row.get(16)?)?,
        valid_before: from_sql(row.get(17)?)?,
        envelope: row.get(18)?,
        created_s: from_sql(row.get(19)?)?,
        signature: signature.zip(signed_s.map(from_sql).transpose()?),
        delivery: maybe(row, 22, |text| serde_json::from_str(text).ok())?,
        claim: maybe(row, 23, |text| serde_json::from_str(text).ok())?,
        transaction: row.get(24)?,
        ended_s: row.get::<Option<i64>>(25)?.map(from_sql).transpose()?,
        tags: tags(row, 26)?,
        proof: maybe(row, 27, |text| serde_json::from_str(text).ok())?,
    })
}

/// Each tag once, in order.
fn tags(row: &Row<'_>, column: usize) -> Result<Vec<Tag>, LedgerFault> {
    let text: Option<String> = row.get(column)?;
    let words = text.as_deref().unwrap_or_default().split_whitespace();
    let mut tags: Vec<Tag> = words.map(|word| word.parse().map_err(|_fault| unreadable())).collect::<Result<_, _>>()?;
    tags.sort_unstable();
    Ok(tags)
}

fn parsed<T: std::str::FromStr>(row: &Row<'_>, column: usize) -> Result<T, LedgerFault> {
    row.get::<String>(column)?.parse().map_err(|_fault| unreadable())
}

fn maybe<T>(row: &Row<'_>, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, LedgerFault> {
    match row.get::<Option<String>>(column)? {
        None => Ok(None),
        Some(text) => read(&text).map(Some).ok_or_else(unreadable),
    }
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, LedgerFault> {
    serde_json::from_str(text).map_err(|_fault| unreadable())
}

const fn unreadable() -> LedgerFault {
    LedgerFault::Unreadable { what: "payment" }
}
