//! The operator's page in a browser, by the keyboard alone, with a real vault and an agent whose purchases it is about.

use serde_json::{Value, json};

use crate::chromium::Page;
use crate::household::{Household, PASSPHRASE, words};
use crate::operator::Terminal;

/// The agent asks for a page.
async fn fetched(house: &mut Household, url: &str) -> Value {
    house.call("x402_fetch", json!({ "url": url })).await
}

/// Fills in the card of the purchase that waits, and sends it.
async fn answers(page: &Page<'_>, price: &str, passphrase: &str) {
    page.tabs_to(".approval input[type=text]").await;
    page.run("document.activeElement.select()").await;
    page.types(price).await;
    page.press("Tab").await;
    page.types(passphrase).await;
    page.press("Enter").await;
}

async fn goes_to(page: &Page<'_>, view: &str) {
    page.tabs_to(&format!("nav a[href='#{view}']")).await;
    page.press("Enter").await;
    page.until(&format!("!document.getElementById('{view}').hidden")).await;
}

#[tokio::test]
async fn a_purchase_is_approved_on_the_page_by_the_keyboard_and_the_agents_next_call_is_paid() {
    let mut house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let url = house.seller.url("/report?a=1");
    let asked = fetched(&mut house, &url).await;
    assert_eq!(asked["outcome"], "needs_approval", "{asked}");
    let page = terminal.log_in(&house.browser).await;
    assert_eq!(page.run("document.cookie + location.search + location.hash").await, "", "a login is within reach");
    page.until("document.getElementById('waiting').textContent === '1'").await;
    goes_to(&page, "approvals").await;
    let card = page.run("document.querySelector('.approval').innerText").await;
    let card = card.as_str().unwrap();
    for part in [
        url.as_str(),
        "0.05 USD, which is 0.05 USDC (50000 atomic units)",
        "eip155:84532",
        "from where on a person looks",
    ] {
        assert!(card.contains(part), "`{part}` is not in: {card}");
    }

    // Another price: nothing is sent to the vault, whose door would count a wrong passphrase.
    answers(&page, "0.04 USD", PASSPHRASE).await;
    page.until("document.querySelector('.approval .says').textContent.includes('something else was typed')").await;
    answers(&page, "0.05 USD", "a wrong passphrase").await;
    page.until("document.querySelector('.approval .says').textContent.includes('4 more wrong')").await;
    assert_eq!(page.run("document.querySelector('.approval input[type=password]').value").await, "");
    answers(&page, "0.05 USD", PASSPHRASE).await;
    page.until("document.getElementById('says').textContent.startsWith('Approved, for one payment: 0.05 USD to ')")
        .await;
    page.until("document.querySelector('.approval').innerText.includes('approved')").await;
    assert_eq!(house.seller.paid(), []);
    drop(page);

    let paid = fetched(&mut house, &url).await;
    assert_eq!((&paid["outcome"], &paid["repeat"]), (&json!("paid"), &json!(false)), "{paid}");
    assert_eq!(house.seller.paid().len(), 1);
    let page = house.browser.page_at(&format!("{}#approvals", terminal.address)).await;
    goes_to(&page, "payments").await;
    page.until("document.getElementById('payment-list').innerText.includes('settled')").await;
    let said = words(&house.profile) + &terminal.shown;
    assert!(!said.contains(PASSPHRASE) && !said.contains("a wrong passphrase"), "{said}");
}

#[tokio::test]
async fn freezing_and_denying_need_no_passphrase_and_thawing_does() {
    let mut house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let url = house.seller.url("/report?a=2");
    fetched(&mut house, &url).await;
    let page = terminal.log_in(&house.browser).await;
    goes_to(&page, "approvals").await;
    page.tabs_to(".approval button.danger").await;
    page.press("Enter").await;
    page.until("document.getElementById('says').textContent.startsWith('Denied: 0.05 USD to ')").await;
    page.tabs_to("#freeze").await;
    page.press("Enter").await;
    page.until("document.getElementById('standing').textContent === 'frozen'").await;
    drop(page);
    let told = fetched(&mut house, &url).await;
    assert!(told["outcome"] != "paid", "{told}");
    let free = house.seller.url("/page?a=2");
    let told = fetched(&mut house, &free).await;
    assert!(told["outcome"] != "paid", "{told}");

    let page = house.browser.page_at(&format!("{}#approvals", terminal.address)).await;
    page.looks(1280, "light").await;
    goes_to(&page, "overview").await;
    for (typed, says) in [("a wrong passphrase", "more wrong"), (PASSPHRASE, "")] {
        page.tabs_to("#thaw-passphrase").await;
        page.types(typed).await;
        page.press("Enter").await;
        if !says.is_empty() {
            page.until(&format!("document.querySelector('#banners .says').textContent.includes('{says}')")).await;
        }
    }
    page.until("document.getElementById('standing').textContent === 'paying'").await;
    // A reload stays in; logging out does not, and the code is used up.
    page.go(&terminal.address).await;
    page.until("document.getElementById('standing').textContent === 'paying'").await;
    page.tabs_to("#leave").await;
    page.press("Enter").await;
    page.until("!document.getElementById('login').hidden && document.activeElement.id === 'code'").await;
    page.types("0000-0000-0000-0000").await;
    page.press("Enter").await;
    page.until("document.getElementById('login-says').textContent.includes('press Enter in the terminal')").await;
    terminal.enter().await;
    page.types(&terminal.code().await).await;
    page.press("Enter").await;
    page.until("!document.getElementById('inside').hidden").await;
    drop(page);
    assert_eq!(fetched(&mut house, &free).await["outcome"], "paid");
}

#[tokio::test]
async fn a_page_elsewhere_neither_reads_the_console_nor_does_anything_with_it() {
    let house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let inside = terminal.log_in(&house.browser).await;
    let evil = house.browser.open(&house.seller.url("/free")).await;
    let address = &terminal.address;
    let tried = evil
        .run(&format!(
            "(async () => {{
                const tries = [
                    fetch('{address}'),
                    fetch('{address}state', {{ credentials: 'include' }}),
                    fetch('{address}freeze', {{ method: 'POST', credentials: 'include', body: '{{}}' }}),
                    fetch('{address}freeze', {{ method: 'POST', credentials: 'include', body: '{{}}',
                        headers: {{ 'content-type': 'application/json', 'x-bursar-token': 'x' }} }}),
                ];
                const blind = await fetch('{address}freeze', {{ method: 'POST', mode: 'no-cors', credentials: 'include', body: '{{}}' }})
                    .then(reply => reply.type, fault => fault.name);
                const read = await Promise.allSettled(tries);
                return [read.map(one => one.status), blind];
            }})()"
        ))
        .await;
    assert_eq!(tried[0], json!(["rejected", "rejected", "rejected", "rejected"]), "{tried}");
    inside.until("document.getElementById('standing').textContent === 'paying'").await;
    assert_eq!(house.status().frozen, None);
}

#[tokio::test]
async fn a_client_shows_the_page_and_its_link_leads_through_the_login_to_the_card() {
    let mut house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let asked = json!({ "url": house.seller.url("/report?a=3") });
    let url = house.agent.call_that_shows("x402_fetch", &asked).await;
    let id = url.strip_prefix(&format!("{}#approval=", terminal.address)).expect("the page is not the console's");
    house.agent.opens("x402_fetch", &asked).await;

    // The link is followed on a page of somebody else's, as in a client that is a page itself.
    let elsewhere = house.browser.open(&house.seller.url("/free")).await;
    let follow = format!("Object.assign(document.createElement('a'), {{ href: '{url}', target: '_blank' }}).click()");
    elsewhere.start(&follow).await;
    let page = house.browser.page_at(&url).await;
    page.looks(1280, "light").await;
    page.until("document.activeElement.id === 'code'").await;
    page.types(&terminal.code().await).await;
    page.press("Enter").await;
    page.until(&format!("document.activeElement.id === 'card-{id}'")).await;
    assert_eq!(page.run("document.querySelector('nav a[aria-current]').hash").await, "#approvals");
    answers(&page, "0.05 USD", PASSPHRASE).await;
    page.until("document.getElementById('says').textContent.startsWith('Approved, for one payment: 0.05 USD to ')")
        .await;
    drop(page);
    // The call that waited for the person.
    let paid = house.agent.hears().await;
    assert_eq!((&paid["outcome"], &paid["repeat"]), (&json!("paid"), &json!(false)), "{paid}");

    // The same link once more, in a page that is open: there is nothing to decide any more.
    let page = house.browser.page_at(&url).await;
    page.run("location.hash = 'overview'").await;
    page.until("!document.getElementById('overview').hidden").await;
    page.run(&format!("location.hash = 'approval={id}'")).await;
    page.until("document.getElementById('says').textContent.startsWith('No purchase waits under ')").await;
    page.until("document.activeElement.id === 'approvals-title'").await;
}

#[tokio::test]
async fn a_browser_that_a_program_drives_is_asked_for_no_passphrase() {
    let mut house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let url = house.seller.url("/report?a=4");
    fetched(&mut house, &url).await;
    let page = house.browser.blank().await;
    page.is_driven().await;
    page.go(&terminal.address).await;
    page.looks(1280, "light").await;
    page.until("document.querySelector('#login .driven').innerText.includes('A program drives this browser')").await;
    page.types(&terminal.code().await).await;
    page.press("Enter").await;
    goes_to(&page, "approvals").await;
    page.until("document.querySelector('#view .driven').innerText.includes('no passphrase')").await;
    page.until("document.querySelector('.approval button.danger') !== null").await;
    page.whole_picture(&crate::panes::picture("driven")).await;
    page.tabs_to("#freeze").await;
    page.press("Enter").await;
    page.until("document.getElementById('standing').textContent === 'frozen'").await;
    assert_eq!(page.run("document.querySelectorAll('input[type=password]').length").await, 0);
    // No is a word that needs none.
    page.tabs_to(".approval button.danger").await;
    page.press("Enter").await;
    page.until("document.getElementById('says').textContent.startsWith('Denied: 0.05 USD to ')").await;
}

#[tokio::test]
async fn nothing_of_what_was_shown_stays_in_the_page_after_a_login() {
    let mut house = Household::cautious().await;
    let mut terminal = Terminal::open(&house.profile).await;
    let url = house.seller.url("/report?a=5");
    fetched(&mut house, &url).await;
    // By the person, and by the console, which the page hears of at its next look.
    let leave = "document.getElementById('leave').click()";
    let ended = "fetch('leave', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', \
                 'x-bursar-token': sessionStorage.getItem('bursar-token') } })";
    for (ends, says) in [(leave, ""), (ended, "You are not logged in any more.")] {
        let page = terminal.log_in(&house.browser).await;
        page.until("document.body.textContent.includes('a=5')").await;
        page.run("window.old = true").await;
        page.start(ends).await;
        page.until(&format!(
            "window.old !== true && document.activeElement.id === 'code' && \
             document.getElementById('login-says').textContent.startsWith('{says}')"
        ))
        .await;
        assert_eq!(page.run("document.documentElement.textContent.includes('a=5')").await, false);
        terminal.enter().await;
    }
}
