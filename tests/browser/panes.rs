//! Every view of the operator's page in light and dark colours and at a phone's width: axe finds nothing, nothing is wider than the
//! page, a stranger's words stay words, and there is a picture for people.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chromium::Page;
use crate::household::Household;
use crate::operator::Terminal;

const VIEWS: [&str; 6] = ["overview", "approvals", "payments", "refusals", "people", "log"];
const LOOKS: [(&str, u32, &str); 3] = [("light", 1280, "light"), ("dark", 1280, "dark"), ("phone", 360, "light")];

/// What a model would say of a purchase so that a page runs it.
const HOSTILE: &str = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

fn axe() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/axe/node_modules/axe-core/axe.min.js");
    fs::read_to_string(path)
        .unwrap_or_else(|_| panic!("this test needs axe-core: run `cd tests/axe && npm ci --ignore-scripts`"))
}

pub(crate) fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/tests/console-{name}.png"))
}

/// Fails where axe finds something, or something is wider than the page.
async fn is_sound(page: &Page<'_>, name: &str) {
    let found = page
        .run(
            "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(one => \
                          `${one.id}: ${one.nodes.map(node => node.html).join(' | ')}`))",
        )
        .await;
    assert_eq!(found, json!([]), "axe finds in {name}");
    let wide = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
    assert_eq!(wide, 0, "{name} is wider than the page");
}

async fn busy() -> Household {
    let mut house = Household::cautious().await;
    for path in ["/page?day=1", "/page?day=2", "/page?day=3", "/silent?feed", "/locked?room"] {
        let url = house.seller.url(path);
        house.call("x402_fetch", json!({ "url": url })).await;
    }
    for url in ["https://elsewhere.browser.test/page", "https://shop.browser.test:1/<b>bold</b>"] {
        house.call("x402_fetch", json!({ "url": url })).await;
    }
    let url = house.seller.url("/report?of=%3Cimg%20src=x%20onerror=alert(1)%3E");
    let told: Value = house.call("x402_fetch", json!({ "url": url, "suspicious": HOSTILE })).await;
    assert_eq!(told["outcome"], "needs_approval", "{told}");
    house
}

#[tokio::test]
async fn every_view_is_sound_in_light_and_dark_and_on_a_phone() {
    let house = busy().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let page = house.browser.open(&terminal.address).await;
    page.until("document.activeElement.id === 'code'").await;
    page.run(&format!("{};0", axe())).await;
    for (look, width, scheme) in LOOKS {
        page.looks(width, scheme).await;
        is_sound(&page, &format!("login, {look}")).await;
        page.whole_picture(&picture(&format!("login-{look}"))).await;
    }
    drop(page);
    let page = terminal.log_in(&house.browser).await;
    page.run(&format!("{};0", axe())).await;
    page.until("document.getElementById('waiting').textContent === '1'").await;
    page.run("document.getElementById('check').click()").await;
    page.until("document.getElementById('check-says').textContent.startsWith('In order')").await;
    for view in VIEWS {
        page.run(&format!("location.hash = '{view}'")).await;
        page.until(&format!("!document.getElementById('{view}').hidden")).await;
        page.run("for (const closed of document.querySelectorAll('details')) closed.open = false").await;
        for (look, width, scheme) in LOOKS {
            page.looks(width, scheme).await;
            is_sound(&page, &format!("{view}, {look}")).await;
            page.whole_picture(&picture(&format!("{view}-{look}"))).await;
        }
    }
    // Whatever was said is there to be read, and is nothing else.
    let text = page.run("document.body.textContent").await;
    assert!(text.as_str().unwrap().contains("<script>document.title="), "{text}");
    assert_eq!(page.run("document.querySelectorAll('#view img, #view script, #view b').length").await, 0);
    assert_eq!(page.run("document.title").await, "(1) bursar console");

    page.run("document.getElementById('freeze').click()").await;
    page.run("location.hash = 'overview'").await;
    page.until("document.getElementById('standing').textContent === 'frozen'").await;
    page.until("document.getElementById('thaw-passphrase') !== null").await;
    for (look, width, scheme) in LOOKS {
        page.looks(width, scheme).await;
        is_sound(&page, &format!("frozen, {look}")).await;
        page.whole_picture(&picture(&format!("frozen-{look}"))).await;
    }
}
