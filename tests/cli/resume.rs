//! `resume`: a host that cheated is left alone until the operator, and nobody else, lifts that.

use serde_json::Value;

use crate::desk::PASSPHRASE;
use crate::explain::{beside, fetched};
use crate::stall::{HOST, Stall};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_operator_resumes_a_host_and_hears_what_was_lifted() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    let origin = stall.origin();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    for turn in 0..3 {
        let told = fetched(&desk, &format!("{origin}/crooked?{turn}")).await;
        assert_eq!(told["code"], "offer_refused", "{told}");
    }
    // The honest page, too: it is the host that is left alone.
    let told = fetched(&desk, &format!("{origin}/page")).await;
    assert_eq!(told["code"], "host_quarantined", "{told}");
    assert!(told.to_string().contains("bursar resume"), "{told}");

    let status: Value = serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap();
    let listed = &status["quarantined"][0];
    assert_eq!((&listed["origin"], &listed["strikes"]), (&Value::from(origin.as_str()), &Value::from(3)));
    let shown = desk.run(&["status"]).await.done();
    for part in ["in quarantine", origin.as_str(), "min left", " resume`"] {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }

    for (typed, code, sentence) in
        [("a wrong passphrase", 3, "not the operator's passphrase"), ("", 2, "nothing was typed")]
    {
        let said = desk.typing(&["resume", HOST], typed).await;
        assert!(said.code == Some(code) && said.err.contains(sentence) && !said.out.contains("is over"), "{said:?}");
    }
    desk.typing(&["resume", "nobody.cli.test"], PASSPHRASE).await.says(3, &["`nobody.cli.test`", "status`"]);
    assert_eq!(fetched(&desk, &format!("{origin}/page")).await["code"], "host_quarantined");

    let shown = desk.typing(&["resume", HOST], PASSPHRASE).await.done();
    let standing = format!("Counted against `{origin}`: 0 failed deliveries, 3 security refusals.");
    let (before, after) = shown.split_once("To forgive this, type").unwrap();
    assert!(before.contains("is in quarantine until") && before.contains(&standing), "{shown}");
    assert!(!before.contains("is over") && after.contains("is over"), "{shown}");
    assert!(shown.contains(&format!("The quarantine of `{origin}` is over.")), "{shown}");
    assert!(shown.contains("0 failed deliveries, 3 security refusals"), "{shown}");
    assert_eq!(fetched(&desk, &format!("{origin}/page")).await["outcome"], "paid");
    let shown = desk.run(&["resume", &origin]).await.done();
    assert_eq!(shown, format!("Nothing stands against `{origin}`.\n"), "nobody is asked for a passphrase");
    let log = desk.run(&["log", "--json"]).await.done();
    assert_eq!(log.matches("\"quarantined\"").count(), 1, "{log}");
    assert_eq!(log.matches("\"resumed\"").count(), 1, "{log}");
}
