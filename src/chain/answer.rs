//! JSON-RPC answers (JSON-RPC 2.0, Ethereum execution-apis) as values. It must never guess: what is not in the exact form is
//! no answer.

use bursar_policy::{Address, Quoted};
use bursar_vault::chain::{Block, Log, Receipt, Word};

use crate::wire::json::{self, Members};

/// The most logs of one answer, or of one receipt.
const LOGS_MAX: usize = 4_096;

/// What an endpoint said to one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// The result, as it was written.
    Result(&'a str),
    /// It cannot or will not say: the code and its words, cut and made visible.
    Error(i64, Quoted),
}

/// Reads `body` as the answer to the request `id`; or what is wrong with it.
pub(super) fn open(body: &[u8], id: u64) -> Result<Answer<'_>, String> {
    let text = json::check(body).map_err(|fault| format!("its answer {fault}"))?;
    let members = Members::of(text).ok_or("its answer is not an object")?;
    if members.text("jsonrpc") != Some("\"2.0\"") || members.text("id") != Some(id.to_string().as_str()) {
        return Err("its answer is not to this request".to_owned());
    }
    match (members.text("result"), members.present("error")) {
        (Some(result), None) => Ok(Answer::Result(result)),
        (None | Some("null"), Some(error)) => {
            let error = Members::of(error).ok_or("its error is not an object")?;
            let code = error.text("code").and_then(|code| code.parse().ok()).ok_or("its error has no code")?;
            let said = error.text("message").and_then(string).unwrap_or_default();
            Ok(Answer::Error(code, Quoted::of(&said)))
        }
        _ => Err("its answer has neither a result nor an error, or both".to_owned()),
    }
}

/// A block's header; `None` where there is no such block.
pub(super) fn block(result: &str) -> Result<Option<Block>, String> {
    if result == "null" {
        return Ok(None);
    }
    let members = Members::of(result).ok_or("a block is not an object")?;
    let number = quantity(member(&members, "number")?)?;
    let hash = word(member(&members, "hash")?)?;
    Ok(Some(Block { number, hash, time_s: quantity(member(&members, "timestamp")?)? }))
}

/// A receipt; `None` where the transaction is in no block.
pub(super) fn receipt(result: &str) -> Result<Option<Receipt>, String> {
    if result == "null" {
        return Ok(None);
    }
    let members = Members::of(result).ok_or("a receipt is not an object")?;
    let succeeded = match quantity(member(&members, "status")?)? {
        0 => false,
        1 => true,
        other => return Err(format!("a receipt has the status {other}")),
    };
    Ok(Some(Receipt {
        transaction: word(member(&members, "transactionHash")?)?,
        succeeded,
        block: quantity(member(&members, "blockNumber")?)?,
        hash: word(member(&members, "blockHash")?)?,
        logs: logs(member(&members, "logs")?)?,
    }))
}

/// Logs of blocks that stand.
pub(super) fn logs(result: &str) -> Result<Vec<Log>, String> {
    let items = json::items(result).ok_or("logs are not a list")?;
    if LOGS_MAX < items.len() {
        return Err(format!("it sent more than {LOGS_MAX} logs"));
    }
    items.into_iter().map(log).collect()
}

fn log(item: &str) -> Result<Log, String> {
    let members = Members::of(item).ok_or("a log is not an object")?;
    if !matches!(members.text("removed"), None | Some("false")) {
        return Err("a log was taken back".to_owned());
    }
    let topics = json::items(member(&members, "topics")?).ok_or("topics are not a list")?;
    let contract = bytes(member(&members, "address")?)?;
    let contract: [u8; 20] = contract.try_into().map_err(|_| "the address of a log has not 20 bytes")?;
    Ok(Log {
        contract: Address::from_bytes(contract),
        topics: topics.into_iter().map(word).collect::<Result<_, _>>()?,
        data: bytes(member(&members, "data")?)?,
        transaction: word(member(&members, "transactionHash")?)?,
        block: quantity(member(&members, "blockNumber")?)?,
    })
}

/// A whole number: `0x` and hex digits without zeros in front.
pub(super) fn quantity(text: &str) -> Result<u64, String> {
    let said = string(text).ok_or("a number is not a text")?;
    let digits = said.strip_prefix("0x").filter(|digits| *digits == "0" || !digits.starts_with('0'));
    let plain = digits.filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = plain.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| format!("`{}` is no number here", Quoted::of(&said)))
}

/// 32 bytes.
pub(super) fn word(text: &str) -> Result<Word, String> {
    let said = string(text).ok_or("a hash is not a text")?;
    Word::parse(&said).ok_or_else(|| format!("`{}` is no hash", Quoted::of(&said)))
}

/// Bytes of any number.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let said = string(text).ok_or("data is not a text")?;
    let decoded = said.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok());
    decoded.ok_or_else(|| format!("`{}` is no data", Quoted::of(&said)))
}

fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn member<'a>(members: &Members<'a>, name: &str) -> Result<&'a str, String> {
    members.present(name).ok_or_else(|| format!("it says nothing of `{name}`"))
}

#[cfg(test)]
mod tests;
