//! Two stories to begin with: one that ends in a payment and one that ends in a refusal. Writes into a new folder only.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::exit::Stop;

const RULES: &str = r#"# The rules of this story; without this file those of the profile would hold.
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]

[[host]]
origin = "https://api.example.com"
"#;

const ASK: &str = r#"{
  "tool": "x402_fetch",
  "arguments": { "url": "https://api.example.com/weather" }
}
"#;

const PAYS: &str = r#"# The price is within the ceiling and the payee is listed.
outcome = "pay"
money = "0.01 USD"
payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
"#;

const REFUSES: &str = r#"# The same seller asks for more than one payment may cost.
outcome = "refuse"
code = "over_payment_cap"
"#;

/// Writes the stories into `folder`, which must not be there.
///
/// # Errors
///
/// A [`Stop`] with exit code 2; what was written until then stays.
pub(super) fn write(folder: &Path) -> Result<(), Stop> {
    let unwritable = |path: &Path, fault: &std::io::Error| {
        Stop::usage(format!("`{}` cannot be written: {fault}; give a folder that is not there yet", path.display()))
    };
    fs::create_dir(folder).map_err(|fault| unwritable(folder, &fault))?;
    for (name, units, want) in
        [("pays-a-listed-seller", "10000", PAYS), ("refuses-a-price-over-the-ceiling", "60000", REFUSES)]
    {
        let story = folder.join(name);
        fs::create_dir(&story).map_err(|fault| unwritable(&story, &fault))?;
        let reply = reply(units);
        for (file, text) in
            [("ask.json", ASK), ("rules.toml", RULES), ("reply.http", reply.as_str()), ("want.toml", want)]
        {
            let path = story.join(file);
            fs::write(&path, text).map_err(|fault| unwritable(&path, &fault))?;
        }
    }
    Ok(())
}

/// A 402 of version 2 that asks for `units` of USDC.
fn reply(units: &str) -> String {
    let terms = format!(
        r#"{{"x402Version":2,"error":"payment required","resource":{{"url":"https://api.example.com/weather"}},"accepts":[{{"scheme":"exact","network":"eip155:84532","amount":"{units}","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"extra":{{"name":"USDC","version":"2"}}}}]}}"#
    );
    let header = STANDARD.encode(terms);
    format!(
        "HTTP/1.1 402 Payment Required\r\nDate: Mon, 02 Nov 2026 09:00:00 GMT\r\nPAYMENT-REQUIRED: {header}\r\nContent-Length: 2\r\n\r\n{{}}"
    )
}
