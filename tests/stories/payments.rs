//! What the seller was sent as payment, held against the ledger: the last place where a wrong field would show.

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
    for request in &played.requests {
        let Some((name, value)) = request.payment() else { continue };
        match read(name, value).and_then(|paid| paid.check(played).map(|()| paid)) {
            Ok(paid) => signatures.push(paid.signature),
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
        if self.version == 2 {
            self.check_echo(row)?;
        }
        Ok(())
    }

    fn check_fields(&self, row: &PaymentDetail, payer: Address) -> Result<(), String> {
        let Authorization { from, to, value, valid_after, valid_before, .. } = &self.authorization;
        let (terms, created_s) = (&row.terms, row.receipt.created_s);
        let wanted_after = if self.version == 1 { created_s - 600 } else { 0 };
        let fields = [
            ("from", *from == payer && row.payer == payer),
            ("to", *to == terms.payee),
            ("value", *value == terms.amount),
            ("validAfter", *valid_after == wanted_after),
            ("validBefore", *valid_before == row.receipt.valid_before && *valid_before <= created_s + terms.max_timeout_s),
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

    /// The second generation repeats the offer that is paid.
    fn check_echo(&self, row: &PaymentDetail) -> Result<(), String> {
        let echoed = &self.document["accepted"];
        let amount = echoed["amount"].as_str();
        let payee = echoed["payTo"].as_str().and_then(|text| text.parse::<Address>().ok());
        if amount == Some(&row.terms.amount.to_string()) && payee == Some(row.terms.payee) {
            return Ok(());
        }
        Err(format!("the offer it repeats is not the one that was judged: {echoed}"))
    }
}
