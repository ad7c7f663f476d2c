//! Plays the pages from top to bottom, each on a machine of its own.

use crate::machine::CHECKOUT;
use crate::page::Page;
use crate::reader::Reader;
use crate::unrun;

/// What a page may find done before it goes on, in the words of its remark `<!-- run with: … -->`, and how it is done.
const BEFORE: [(&str, &str); 8] = [
    (
        "the shop",
        "```console\n$ bursar demo --shop ~/play\n…\nCtrl-C …\n$ alias bursar=\"bursar --sandbox ~/play\"\n```\n",
    ),
    (
        "a budget",
        "```console\n$ bursar session new --budget \"1.00 USD\"\n…\nType the amount (1.00 USD) to agree: ‹1.00 USD›\n\
         Operator passphrase: ‹passphrase›\n…\n```\n",
    ),
    (
        "a purchase",
        "```json\n{\"tool\": \"x402_fetch\", \"arguments\": {\"url\": \"https://shop.demo.test:8402/v2/report\"}}\n```\n\
         ```json\n{\"outcome\": \"paid\"}\n```\n",
    ),
    (
        "its roles",
        "```console\n$ createuser --pwprompt bursar_owner\nEnter password for new role: ‹owner's password›\n\
         Enter it again: ‹owner's password›\n$ createuser --pwprompt bursar\n\
         Enter password for new role: ‹vaults' password›\nEnter it again: ‹vaults' password›\n$ createdb --owner bursar_owner --encoding UTF8 books\n```\n",
    ),
    ("a release", "```bash\ncd; /mnt/checkout/tests/guide/release.sh\n```\n"),
    ("no key of the vault's", "```bash\nrm -r /var/lib/bursar/.bursar\n```\n"),
    // As systemd lends it to the unit.
    (
        "the credential",
        "```bash\ninstall -d -m 0500 -o bursar -g bursar /run/credentials /run/credentials/bursar-vault.service\n\
         cd /run/credentials/bursar-vault.service\n\
         systemd-creds decrypt --name=passphrase /etc/credstore.encrypted/bursar.passphrase passphrase\n\
         chown bursar:bursar passphrase\nchmod 0400 passphrase\n```\n",
    ),
    (
        "a profile",
        "```console\n$ bursar init --defaults\nNew operator passphrase (8 characters or more): ‹passphrase›\n\
         The same again: ‹passphrase›\n…\n$ bursar unlock\nOperator passphrase: ‹passphrase›\n…\n```\n",
    ),
];

/// Reads a page from its top to its end.
async fn read(page: &Page) {
    let mut reader = Reader::new(page).await;
    let remarks = page.remarks();
    let mut remarks = remarks.iter().peekable();
    for block in page.blocks() {
        while let Some((_, words)) = remarks.next_if(|(line, _)| *line < block.line) {
            for word in words.split(", ") {
                prepare(&mut reader, word, &page.name).await;
            }
        }
        reader.reads(&block).await;
    }
    assert!(remarks.peek().is_none(), "{}: nothing follows a remark", page.name);
    reader.nothing_failed(&page.name);
}

/// Does what the page finds done.
async fn prepare(reader: &mut Reader, word: &str, page: &str) {
    match word {
        "a new machine" => reader.moves().await,
        "root" => reader.becomes_root(),
        "a checkout" => reader.goes_to(CHECKOUT),
        "a server" => reader.runs_a_server().await,
        "the sources of a release" => reader.goes_to("/root/sources"),
        "an editor" => reader.sets("EDITOR", "true"),
        _ => {
            let (_, how) = BEFORE.iter().find(|(name, _)| *name == word).unwrap_or_else(|| panic!("{page}: `{word}`?"));
            for block in made_up(how).blocks() {
                reader.reads(&block).await;
            }
        }
    }
}

/// Pages with something to run, each with a test of its own, so that they run beside one another.
macro_rules! pages {
    ($($test:ident $page:literal)+) => {
        const PAGES: &[&str] = &[$($page),+];
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            read(&Page::read(concat!("docs/", $page, ".md"))).await;
        })+
    };
}

pages! {
    the_page_of_the_browser_runs_as_it_is_written "browser"
    the_page_of_releases_runs_as_it_is_written "releases"
    the_page_of_the_console_runs_as_it_is_written "console"
    the_hardened_setup_runs_as_it_is_written "hardened"
    the_page_of_metrics_runs_as_it_is_written "metrics"
    the_page_of_postgres_runs_as_it_is_written "postgres"
    the_page_of_routes_runs_as_it_is_written "routes"
    the_page_of_shares_runs_as_it_is_written "shares"
    the_page_of_approvals_runs_as_it_is_written "approvals"
    the_cookbook_runs_as_it_is_written "cookbook"
    the_questions_run_as_they_are_written "faq"
    the_page_of_keys_runs_as_it_is_written "keys"
    the_page_of_the_ledger_runs_as_it_is_written "ledger"
    the_page_of_refusals_runs_as_it_is_written "refusals"
    the_page_of_the_rules_runs_as_it_is_written "rules"
    the_start_runs_as_it_is_written "start"
    the_page_of_teams_runs_as_it_is_written "teams"
    the_troubleshooting_runs_as_it_is_written "troubleshooting"
}

#[test]
fn every_page_with_something_to_run_is_run() {
    let runs = |page: &Page| {
        page.blocks().iter().any(|block| match block.info.as_str() {
            "console" | "toml" | "json" => true,
            "bash" => unrun::commands(block).iter().any(|line| !unrun::is_listed(&page.name, line)),
            _ => false,
        })
    };
    let pages = Page::all().into_iter().filter(runs);
    let names: Vec<String> = pages.map(|page| page.name.replace("docs/", "").replace(".md", "")).collect();
    let mut listed: Vec<&str> = PAGES.to_vec();
    listed.sort_unstable();
    assert_eq!(names, listed);
}

/// A page that is made up, as a test of this test.
fn made_up(text: &str) -> Page {
    Page { name: "made-up".to_owned(), text: text.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_wrong_is_found() {
    read(&made_up("```console\n$ bursar --version\nbursar …\n$ false\n$ echo $?\n1\n```\n")).await;
    for wrong in [
        "```console\n$ bursar demo --bogus\n```\n",
        "```console\n$ bursar --version\nbursar of another kind\n```\n",
        "```console\n$ bursar status\n```\n",
        "```console\n$ false\n$ echo $?\n0\n```\n",
        "```console\n$ echo one\ntwo\n^C\n```\n",
        "```console\n$ cat\n…\n^C\n```\n",
        "```bash\nfalse\ntrue\n```\n",
        "```toml\n[payment]\nmax_per_payments = \"1.00 USD\"\n```\n",
    ] {
        let page = made_up(wrong);
        let ended = tokio::spawn(async move { read(&page).await }).await;
        assert!(ended.is_err(), "nothing was found in {wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_closes_at_a_signal_ends_its_vault_and_leaves_its_folder() {
    let programs = "cat /proc/[0-9]*/comm 2>/dev/null | grep -c '^bursar$'";
    read(&made_up(&format!(
        "```console\n$ bursar demo --shop ~/play\nThe shop is open…\n…\nCtrl-C closes the shop; its folder stays.\n^C\n…\n\
         $ {programs}\n0\n$ echo $?\n1\n$ ls play/bursar.toml\nplay/bursar.toml\n\
         $ command bursar demo --shop ~/play\n…there already…\n$ echo $?\n1\n```\n"
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_page_writes_is_left_on_the_machine_that_the_test_runs_on() {
    read(&made_up(
        "<!-- run with: root -->\n```bash\necho 1 >/etc/bursar-guide\necho 1 >/usr/bursar-guide\n\
         echo 1 >/tmp/bursar-guide\necho 1 >/mnt/checkout/bursar-guide\n! touch /bursar-guide\n\
         ! touch /opt/bursar-guide\n```\n",
    ))
    .await;
    for folder in ["/", "/etc", "/usr", "/tmp", "/opt", crate::page::ROOT] {
        assert!(!std::path::Path::new(folder).join("bursar-guide").exists(), "{folder}");
    }
}
