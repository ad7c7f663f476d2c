//! `doctor` on a fresh folder, a set-up profile, and everything that can be wrong with one; it changes nothing anywhere.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::desk::{Desk, PASSPHRASE, Said, run, write};
use crate::endpoint::Rpc;

/// A home folder beside the sandbox.
fn home(desk: &Desk) -> PathBuf {
    let home = desk.home.with_file_name("home");
    fs::create_dir_all(&home).unwrap();
    home
}

async fn examined(desk: &Desk) -> Said {
    desk.run(&["doctor", "--json", "--home", home(desk).to_str().unwrap()]).await
}

/// What is said about one thing.
async fn about(desk: &Desk, what: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(&examined(desk).await.out).unwrap();
    let lines = report["lines"].as_array().unwrap().clone();
    lines.into_iter().filter(|line| line["about"] == what).collect()
}

/// The one line about a thing: its verdict, its sentence and its fix.
async fn line(desk: &Desk, what: &str) -> (String, String, String) {
    let lines = about(desk, what).await;
    assert_eq!(lines.len(), 1, "{what}: {lines:?}");
    let text = |key: &str| lines[0][key].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("says"), text("fix"))
}

#[tokio::test]
async fn before_init_it_says_to_run_it_and_makes_nothing() {
    let desk = Desk::empty();
    let said = desk.run(&["doctor", "--home", home(&desk).to_str().unwrap()]).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    for part in ["FAIL  profile", "is not set up", " init\n", "warn  clients", "1 failed"] {
        assert!(said.out.contains(part), "`{part}` is not in {said:?}");
    }
    assert!(!desk.home.exists());
}

#[tokio::test]
async fn a_sound_profile_passes_with_and_without_a_vault_and_nothing_changes() {
    let mut desk = Desk::set_up(&[]).await;
    let before = desk.files();
    let report: Value = serde_json::from_str(&examined(&desk).await.done()).unwrap();
    assert_eq!(report["verdict"], "warn", "{report}");
    assert!(desk.files() == before, "no file is written, made or removed, and no vault is started");
    let (verdict, says, fix) = line(&desk, "key").await;
    assert!(verdict == "warn" && says.contains("locked") && fix.ends_with(" unlock"), "{says} {fix}");

    desk.start_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    assert!(line(&desk, "session").await.2.contains(" session new --budget \"1.00 USD\""));
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    // What the vault has open changes by the vault's own doing; a test of the ledger says that a look changes none of it.
    let unchanging = |desk: &Desk| {
        let mut files = desk.files();
        files.retain(|path, _| !path.file_name().unwrap().to_string_lossy().starts_with("ledger."));
        files
    };
    let before = unchanging(&desk);
    let shown = desk.run(&["doctor", "--home", home(&desk).to_str().unwrap()]).await.done();
    assert!(unchanging(&desk) == before);
    for part in ["pass  vault", "pass  key", "pass  session      `default` has 1.00 USD of 1.00 USD left", "0 failed"] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colours where no terminal is");

    desk.run(&["freeze"]).await.done();
    assert!(line(&desk, "freeze").await.2.ends_with(" thaw"));
}

#[tokio::test]
async fn what_is_wrong_fails_with_the_command_that_mends_it() {
    let desk = Desk::set_up(&[]).await;
    let rules = desk.rules();
    fs::set_permissions(&rules, Permissions::from_mode(0o644)).unwrap();
    let (verdict, _, fix) = line(&desk, "files").await;
    assert_eq!((verdict.as_str(), fix), ("fail", format!("chmod 0600 {}", rules.display())));
    assert_eq!(examined(&desk).await.code, Some(1));
    fs::set_permissions(&rules, Permissions::from_mode(0o600)).unwrap();

    let good = fs::read_to_string(&rules).unwrap();
    write(&rules, &good.replace("max_per_payment = \"0.05 USD\"", "max_per_payment = 5"));
    let (verdict, says, _) = line(&desk, "rules").await;
    assert!(verdict == "fail" && says.contains("line "), "{says}");
    write(&rules, &format!("{good}\n"));
    assert!(about(&desk, "rules").await.iter().any(|line| line["says"].as_str().unwrap().contains("agreed")));
    write(&rules, &good);

    for (name, what) in [("keystore.json", "keystore"), ("ledger.db", "ledger")] {
        let path = desk.home.join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, "{").unwrap();
        assert_eq!(line(&desk, what).await.0, "fail", "{name}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(examined(&desk).await.code, Some(0), "all is well again");

    let mut command = desk.command();
    command.env("AGENT_PRIVATE_KEY", "x").env("HTTPS_PROXY", "http://p:1").args(["doctor", "--offline"]);
    let said = run(command, "").await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("→ unset AGENT_PRIVATE_KEY") && said.out.contains("warn  proxy"), "{said:?}");
}

#[tokio::test]
async fn endpoints_are_asked_and_the_balance_is_told() {
    for (units, is_good, says) in
        [(Some(20_000_000), "pass", "20"), (Some(0), "warn", "nothing can be paid"), (None, "", "")]
    {
        let desk = Desk::set_up(&[]).await;
        let rpc = Rpc::open(units);
        let text = fs::read_to_string(desk.rules()).unwrap();
        let hosts = "\n[sandbox]\nhosts = { \"rpc.test\" = \"127.0.0.1\" }\n";
        let chain = format!(
            "\n[[chain]]\nnetwork = \"eip155:84532\"\nrpc = [\"http://rpc.test:{}/secret-path\"]\n",
            rpc.port()
        );
        write(&desk.rules(), &format!("{}{chain}", text.replacen("\n[sandbox]\n", hosts, 1)));
        let (verdict, told, _) = line(&desk, "rpc").await;
        assert!(!told.contains("secret-path"), "the rest of the URL may be a key: {told}");
        if units.is_none() {
            assert_eq!(verdict, "fail", "{told}");
            assert!(about(&desk, "balance").await.is_empty());
            continue;
        }
        assert_eq!(verdict, "pass", "{told}");
        let (verdict, told, fix) = line(&desk, "balance").await;
        assert_eq!(verdict, is_good, "{told}");
        assert!(told.contains(says) && (verdict == "pass" || fix.contains("0x")), "{told} {fix}");
    }
}

#[tokio::test]
async fn another_server_that_pays_is_warned_of_without_a_secret_of_its() {
    let desk = Desk::set_up(&[]).await;
    let home = home(&desk);
    let place = home.join(".cursor");
    fs::create_dir_all(&place).unwrap();
    assert!(line(&desk, "clients").await.2.ends_with(" install"));
    desk.run(&["install", "cursor", "--yes", "--home", home.to_str().unwrap()]).await.done();
    assert_eq!(line(&desk, "clients").await.0, "pass");
    assert!(about(&desk, "rivals").await.is_empty());

    let file = place.join("mcp.json");
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    config["mcpServers"]["shopper"] = json!({ "command": "npx", "args": ["x402-mcp"], "env": { "K": "quiet" } });
    config["mcpServers"]["helper"] = json!({ "command": "node", "env": { "PRIVATE_KEY": "quiet" } });
    config["mcpServers"]["docs"] = json!({ "command": "uvx", "args": ["docs-mcp"] });
    fs::write(&file, config.to_string()).unwrap();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/settings.json"), r#"{"enabledPlugins": {"wallet@shop": true, "lint@shop": true}}"#)
        .unwrap();
    let project = json!({ "projects": { "/home/me/shop": { "mcpServers": { "l402": { "command": "uvx", "args": ["l402-mcp"] } } } } });
    fs::write(home.join(".claude.json"), project.to_string()).unwrap();
    let rivals = about(&desk, "rivals").await;
    let all = Value::Array(rivals.clone()).to_string();
    assert_eq!(rivals.len(), 4, "{all}");
    for part in
        ["`shopper`", "`helper`", "`PRIVATE_KEY`", "`wallet@shop`", "`l402 in /home/me/shop`", "Cursor", "Claude Code"]
    {
        assert!(all.contains(part), "{part} is not in {all}");
    }
    assert!(!all.contains("quiet") && rivals.iter().all(|line| line["verdict"] == "warn"), "{all}");

    config["mcpServers"]["bursar"]["command"] = json!("/gone/bursar");
    fs::write(&file, config.to_string()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    let told = Value::Array(about(&desk, "clients").await).to_string();
    assert!(told.contains("/gone/bursar") && told.contains("chmod go-w"), "{told}");
}
