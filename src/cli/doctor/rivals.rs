//! Whether another server of a client pays too. A guess by its names, good enough to warn and never to act on.

use std::ffi::OsString;
use std::path::Path;

use bursar_vault::secrets;

use crate::cli::install::Server;

/// Words in the names of programs that pay or hold a wallet.
const PAYING: [&str; 28] = [
    "x402",
    "l402",
    "ap2",
    "pay",
    "payer",
    "payment",
    "payments",
    "payman",
    "paymanai",
    "wallet",
    "wallets",
    "walletconnect",
    "onchain",
    "agentkit",
    "coinbase",
    "crossmint",
    "stripe",
    "paypal",
    "fewsats",
    "skyfire",
    "nevermined",
    "alby",
    "getalby",
    "nwc",
    "metamask",
    "phantom",
    "bitrefill",
    "lightning",
];

/// How the files end that another program runs.
const SCRIPTS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".py", ".rb"];

/// Why a server seems to pay, as the end of a sentence; `None` where nothing says so.
pub(super) fn of_server(server: &Server) -> Option<String> {
    let variables = server.variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    if let Some(name) = secrets::wallet_variable(variables) {
        return Some(format!("is given a wallet key in `{name}`"));
    }
    let program = server.words.first().map(|word| last_parts(word, 1));
    let arguments = server.words.iter().skip(1).filter_map(|word| match is_path(word) {
        // A script is what is started; any other path is what is worked on.
        true => SCRIPTS.iter().any(|ending| word.ends_with(ending)).then(|| last_parts(word, 4)),
        false => Some(word.clone()),
    });
    let named = std::iter::once(server.name.clone()).chain(program).chain(arguments).chain(server.address.clone());
    named.into_iter().any(|text| says_so(&text)).then(|| "seems to pay or to hold a wallet".to_owned())
}

/// Whether the name of a plugin says that it pays.
pub(super) fn of_plugin(name: &str) -> bool {
    says_so(name)
}

fn is_path(word: &str) -> bool {
    word.starts_with('/') || word.starts_with('~') || word.starts_with('.')
}

/// The last parts of a path: what is above them names a person's folders.
fn last_parts(path: &str, count: usize) -> String {
    let mut parts: Vec<String> =
        Path::new(path).iter().rev().take(count).map(|part| part.to_string_lossy().into_owned()).collect();
    parts.reverse();
    parts.join("/")
}

fn says_so(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| PAYING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, words: &[&str]) -> Server {
        Server {
            name: name.to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Server::default()
        }
    }

    #[test]
    fn servers_that_pay_are_known_by_their_names() {
        for server in [
            server("x402-proxy", &["node", "index.js"]),
            server("shop", &["npx", "-y", "@coinbase/payments-mcp"]),
            server("a", &["uvx", "fewsats-mcp"]),
            server("a", &["node", "/home/me/src/x402-mcp/dist/index.js"]),
            server("a", &["/opt/bin/wallet-mcp"]),
            Server { address: Some("https://mcp.stripe.com".to_owned()), ..server("a", &[]) },
        ] {
            assert!(of_server(&server).is_some(), "{server:?}");
        }
        assert!(of_plugin("agentkit@market") && !of_plugin("rust-analyzer@market"));
    }

    #[test]
    fn a_wallet_key_among_its_variables_is_named_and_never_shown() {
        let mut one = server("helper", &["node", "index.js"]);
        one.variables.insert("EVM_PRIVATE_KEY".to_owned(), "0xsecret".to_owned());
        let why = of_server(&one).unwrap();
        assert!(why.contains("EVM_PRIVATE_KEY") && !why.contains("0xsecret"));
        let mut other = server("helper", &["node", "index.js"]);
        other.variables.insert("GITHUB_TOKEN".to_owned(), "ghp_x".to_owned());
        assert_eq!(of_server(&other), None);
    }

    #[test]
    fn everyday_servers_are_left_alone() {
        for server in [
            server(
                "filesystem",
                &["npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/pay/papers/wallet/x/y"],
            ),
            server("github", &["docker", "run", "ghcr.io/github/github-mcp-server"]),
            server("display", &["uvx", "payload-mcp"]),
            server("playwright", &["npx", "@playwright/mcp@latest"]),
        ] {
            assert_eq!(of_server(&server), None, "{server:?}");
        }
    }
}
