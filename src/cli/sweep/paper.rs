//! The file of a sweep: the signed transfer, and the transaction that makes it. Must never hold more than whoever submits it
//! needs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bursar_vault::protocol::SweepSigned;
use bursar_vault::sign::Signature;
use serde_json::{Value, json};

use crate::cli::exit::Stop;
use crate::cli::table;
use crate::clock;
use crate::wire::transfer::{call_data, members, settle_request};

/// What is written.
#[derive(Debug)]
pub(super) struct Paper {
    name: String,
    signature: Signature,
    text: String,
}

impl Paper {
    /// The file of a sweep; `None` where its signature is none.
    pub(super) fn of(signed: &SweepSigned) -> Option<Self> {
        let SweepSigned { sweep, authorization, domain, signature } = signed;
        let signature: Signature = signature.parse().ok()?;
        let data = format!("0x{}", hex::encode(call_data(authorization, &signature)));
        let beside = json!({
            "bursar_sweep": 1,
            "id": sweep.id.to_string(),
            "network": domain.chain.to_string(),
            "token": domain.contract.to_string(),
            "symbol": sweep.symbol,
            "signature": signature.to_string(),
            "transaction": {
                "chainId": domain.chain.number(),
                "to": domain.contract.to_string(),
                "value": "0x0",
                "data": data,
            },
        });
        let Value::Object(mut what) = beside else { return None };
        what.extend(members(authorization));
        let text = format!("{}\n", serde_json::to_string_pretty(&what).ok()?);
        Some(Self { name: format!("sweep-{}.json", sweep.id), signature, text })
    }

    /// Writes it, for its owner alone; a file that says the same already is left as it is. Where it is.
    ///
    /// # Errors
    ///
    /// [`Stop`] with exit code 2 where another file has the name. The sweep is signed by then, and can be had again.
    pub(super) fn write(&self, out: Option<&Path>) -> Result<PathBuf, Stop> {
        let path = out.map_or_else(|| PathBuf::from(&self.name), Path::to_owned);
        if fs::read_to_string(&path).is_ok_and(|there| there == self.text) {
            return Ok(path);
        }
        let made = table::new_file(&path).and_then(|mut file| {
            file.write_all(self.text.as_bytes())?;
            file.sync_all()?;
            Ok(())
        });
        made.map_err(|stop| {
            let told =
                format!("{}; the sweep is signed: `bursar sweep --again` writes it to another `--out`", stop.sentence);
            Stop::new(stop.exit, told)
        })?;
        Ok(path)
    }

    /// The request that hands it to a facilitator.
    pub(super) fn settle_request(&self, signed: &SweepSigned) -> Vec<u8> {
        let now_s = clock::now_s();
        settle_request(&signed.authorization, &signed.domain, &self.signature, now_s).to_string().into_bytes()
    }
}
