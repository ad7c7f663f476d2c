//! The rules as they are written, for a person who is asked to agree to them. Leaves out remarks and nothing else: what
//! is shown is every line that counts, so that no rule can hide behind a summary.

use bursar_policy::Digest;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, WhichRules};

use super::connect::{Operator, out_of_turn};
use super::exit::Stop;
use super::table;

/// Shows the rules under `title`, and gives the digest of exactly that text.
///
/// # Errors
///
/// A [`Stop`] when the vault cannot be asked, or the file holds no rules.
pub(super) fn show(title: &str, operator: &Operator, which: WhichRules) -> Result<Digest, Stop> {
    let OperatorReply::Rules { text, digest } = operator.ask(&OperatorAsk::Rules { which })? else {
        return Err(out_of_turn());
    };
    table::say(title)?;
    for line in lines(&text) {
        table::say(&format!("    {line}"))?;
    }
    Ok(digest)
}

/// Every line that is neither empty nor only a remark.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn every_line_that_counts_is_shown_and_a_remark_hides_none() {
        let text = "# remark\n\n[payment] # max = 1\n  #x\nmax = \"5\" # five\n\t[[host]]\n";
        let shown: Vec<&str> = lines(text).collect();
        assert_eq!(shown, ["[payment] # max = 1", "max = \"5\" # five", "\t[[host]]"]);
    }
}
