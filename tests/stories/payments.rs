//! What the seller was sent as payment, held against the ledger: the last place where a wrong field would show.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::{Address, Authorization, Domain};
use bursar_vault::protocol::PaymentDetail;
use bursar_vault::sign::recover;
use serde_json::Value;

use crate::play::Played;

/// Everything wrong with the payments that the seller received, in words.
pub(crate) fn faults(played: &Played) -> Vec<String> {
    let mut faults = Vec::new();
    let mut signatures: Vec<String> = Vec::new();
    let mut headers: BTreeMap<[u8; 32], &str> = BTreeMap::new();
    for request in &played.requests {
        let Some((name, value)) = request.payment() else { continue };
        match read(name, value).and_then(|paid| paid.check(played).map(|()| paid)) {
            Ok(paid) => {
                if *headers.entry(paid.authorization.nonce).or_insert(value) != value {
                    faults.push("one payment was sent a second time in other bytes".to_owned());
                }
                signatures.push(paid.signature);
            }
            Err(fault) => faults.push(format!("a payment the seller received: {fault}")),
        }
        if !played.requests.iter().any(|bare| bare.payment().is_none() && *bare == request.bare()) {
            faults.push(format!("`{}` was paid for and never asked for without money", request.line));
        }
    }
    signatures.sort();
    signatures.dedup();
    let signed = played.books.payments.iter().filter(|payment| payment.signed).count();
    if signed < signatures.len() {
        faults.push(format!("the seller received {} signatures, the ledger has {signed}", signatures.len()));
    }
    faults
}

/// A payment header, decoded.
struct Paid {
    version: u64,
    document: Value,
    authorization: Authorization,
    signature: String,
}

fn read(name: &str, value: &str) -> Result<Paid, String> {
    let bytes = STANDARD.decode(value).map_err(|fault| format!("`{name}` is not base64: {fault}"))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|fault| format!("`{name}` is not JSON: {fault}"))?;
    let version = document["x402Version"].as_u64().ok_or("it has no version")?;
    if name != (if version == 1 { "x-payment" } else { "payment-signature" }) {
        return Err(format!("version {version} came in `{name}`"));
    }
    let said = &document["payload"]["authorization"];
    let text = |member: &str| said[member].as_str().ok_or_else(|| format!("`{member}` is not a text"));
    let nonce = hex::decode(text("nonce")?.trim_start_matches("0x")).map_err(|fault| fault.to_string())?;
    let authorization = Authorization {
        from: text("from")?.parse().map_err(|_| "`from` is no address")?,
        to: text("to")?.parse().map_err(|_| "`to` is no address")?,
        value: bursar_policy::Amount::parse(text("value")?).map_err(|_| "`value` is no amount")?,
        valid_after: text("validAfter")?.parse().map_err(|_| "`validAfter` is no time")?,
        valid_before: text("validBefore")?.parse().map_err(|_| "`validBefore` is no time")?,
        nonce: nonce.try_into().map_err(|_| "`nonce` has not 32 bytes")?,
    };
    let signature = document["payload"]["signature"].as_str().ok_or("it has no signature")?.to_owned();
    Ok(Paid { version, document, authorization, signature })
}

impl Paid {
    /// Holds the payment against the row that it belongs to.
    fn check(&self, played: &Played) -> Result<(), String> {
        let nonce = format!("0x{}", hex::encode(self.authorization.nonce));
        let row = played.books.payments.iter().find(|row| row.nonce == nonce);
        let row = row.ok_or_else(|| format!("no row has the nonce {nonce}"))?;
        self.check_fields(row, played.payer)?;
        self.check_echo(played, row)
    }

    fn check_fields(&self, row: &PaymentDetail, payer: Address) -> Result<(), String> {
        let Authorization { from, to, value, valid_after, valid_before, .. } = &self.authorization;
        let exposed = row.events.iter().find(|event| event.kind == "exposed").ok_or("the row was never exposed")?;
        let (terms, exposed_s) = (&row.terms, exposed.at_s);
        let wanted_after = if self.version == 1 { exposed_s - 600 } else { 0 };
        let fields = [
            ("from", *from == payer && row.payer == payer),
            ("to", *to == terms.payee),
            ("value", *value == terms.amount),
            ("validAfter", *valid_after == wanted_after),
            (
                "validBefore",
                *valid_before == row.receipt.valid_before && *valid_before <= exposed_s + terms.max_timeout_s,
            ),
            ("signature", self.signer(row) == Some(payer)),
        ];
        match fields.iter().find(|(_, holds)| !holds) {
            Some((field, _)) => Err(format!("`{field}` is not that of the row")),
            None => Ok(()),
        }
    }

    /// Who signed it, for the token of the row.
    fn signer(&self, row: &PaymentDetail) -> Option<Address> {
        let terms = &row.terms;
        let domain = Domain {
            name: terms.domain_name.clone(),
            version: terms.domain_version.clone(),
            chain: terms.chain,
            contract: terms.asset,
        };
        recover(&self.authorization.digest(&domain), &self.signature.parse().ok()?)
    }

    /// What is repeated of the offer is what the seller sent, and it is the offer that was judged.
    fn check_echo(&self, played: &Played, row: &PaymentDetail) -> Result<(), String> {
        let documents = documents(&played.replies);
        let mut offers = documents.iter().filter_map(|document| document["accepts"].as_array()).flatten();
        if self.version == 1 {
            let same = |offer: &&Value| ["scheme", "network"].iter().all(|name| offer[*name] == self.document[*name]);
            return offers.find(same).map(drop).ok_or_else(|| "no offer has its scheme and network".to_owned());
        }
        let echoed = &self.document["accepted"];
        if !offers.any(|offer| offer == echoed) {
            return Err(format!("the seller never made the offer that it repeats: {echoed}"));
        }
        if !documents.iter().any(|document| document["resource"] == self.document["resource"]) {
            return Err("it repeats another resource".to_owned());
        }
        let amount = echoed["amount"].as_str();
        let payee = echoed["payTo"].as_str().and_then(|text| text.parse::<Address>().ok());
        if amount == Some(&row.terms.amount.to_string()) && payee == Some(row.terms.payee) {
            return Ok(());
        }
        Err(format!("the offer it repeats is not the one that was judged: {echoed}"))
    }
}

/// Every x402 document that the seller had to say, in a header or in a body.
fn documents(replies: &[Vec<u8>]) -> Vec<Value> {
    let texts = replies.iter().map(|reply| String::from_utf8_lossy(reply).into_owned());
    texts
        .flat_map(|text| {
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            let header = |line: &str| {
                line.split_once(": ").filter(|(name, _)| *name == "PAYMENT-REQUIRED").map(|(_, value)| value.to_owned())
            };
            let values = head.lines().filter_map(header).filter_map(|value| STANDARD.decode(value).ok());
            values.chain([body.as_bytes().to_vec()]).collect::<Vec<_>>()
        })
        .filter_map(|bytes| serde_json::from_slice(&bytes).ok())
        .collect()
}
