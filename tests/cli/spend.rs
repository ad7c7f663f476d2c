//! `spend`: sums by host, payee, day and budget, for people, spreadsheets and programs.

use serde_json::Value;

use crate::desk::{Desk, Said};
use crate::explain::{beside, live};
use crate::stall::{PAYEE, Stall};

fn lines(said: Said) -> Vec<Value> {
    said.done().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn before_anything_was_bought_nothing_was_spent() {
    let desk = Desk::with_vault().await;
    assert_eq!(desk.run(&["spend"]).await.done(), "Nothing was spent.\n");
    assert!(lines(desk.run(&["spend", "--json"]).await).is_empty());
    assert_eq!(
        desk.run(&["spend", "--csv", "--by", "day"]).await.done(),
        "day,payments,settled,open,unproven,spent,currency\r\n"
    );
    assert_eq!(desk.run(&["spend", "--by", "mood"]).await.code, Some(2));
    desk.run(&["spend", "--since", "yesterday"]).await.says(2, &["--since yesterday"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_bought_is_added_up_in_every_way() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    live(&desk, &stall).await;
    for (by, of) in
        [("host", stall.origin()), ("payee", format!("{PAYEE} on eip155:84532")), ("session", "default".to_owned())]
    {
        let rows = lines(desk.run(&["spend", "--by", by, "--json"]).await);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0]["of"].as_str().unwrap().to_lowercase(), of.to_lowercase());
        for (key, wanted) in
            [("settled", "0.10 USD"), ("open", "0.00 USD"), ("unproven", "0.00 USD"), ("spent", "0.10 USD")]
        {
            assert_eq!(rows[0][key], wanted, "{by} {key}");
        }
        assert_eq!(rows[0]["payments"], 2);
    }
    let day = lines(desk.run(&["spend", "--by", "day", "--json"]).await)[0]["of"].as_str().unwrap().to_owned();
    assert!(day.len() == 10 && day.starts_with("20"), "{day}");
    let csv = desk.run(&["spend", "--csv"]).await.done();
    assert!(csv.ends_with(",2,0.10,0.00,0.00,0.10,USD\r\n"), "{csv}");
    let shown = desk.run(&["spend"]).await.done();
    for part in [stall.origin().as_str(), "############", "0.10 USD", "all"] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
    assert!(lines(desk.run(&["spend", "--since", "2100-01-01", "--json"]).await).is_empty());
    let status = desk.run(&["status"]).await.done();
    assert!(status.contains("#.") && status.contains("unlocked") && !status.contains('\u{1b}'), "{status}");
}
