//! What bursar noticed about a seller's terms is told beside an answer and changes nothing of it.

use serde_json::json;

use crate::answers::answer;
use crate::client::Client;
use crate::shell::Shell;

#[tokio::test]
async fn a_seller_that_describes_another_method_is_told_beside_whatever_came_of_it() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let mut told = async |tool: &str, url: &str| {
        let result = answer(&mut client, tool, &json!({"url": format!("https://shop.example{url}")})).await;
        result["structuredContent"].clone()
    };
    for (tool, path) in [("x402_fetch", "/paid"), ("x402_fetch", "/refused"), ("x402_quote", "/paid")] {
        let mut plain = told(tool, path).await;
        assert_eq!(plain.get("note"), None, "{path}");
        let noted = told(tool, &format!("{path}?POST")).await;
        assert_eq!(noted["note"]["code"], "other_method_documented", "{path}");
        let message = noted["note"]["message"].as_str().unwrap();
        assert!(message.starts_with("the seller's terms describe a POST for this URL and GET was asked"), "{message}");
        let next = noted["note"]["next_step"].as_str().unwrap();
        assert!(next.contains("call again with method POST") && next.contains("list POST for this host"), "{next}");
        // Nothing else of the answer is other than without it; frames differ each time.
        let mut bare = noted.clone();
        bare.as_object_mut().unwrap().remove("note");
        for told in [&mut bare, &mut plain] {
            told.as_object_mut().unwrap().remove("seller_says");
        }
        assert_eq!(bare, plain);
        let next = told(tool, &format!("{path}?PUT")).await["note"]["next_step"].clone();
        assert!(next.as_str().unwrap().contains("bursar sends no PUT"), "{next}");
        let next = told(tool, &format!("{path}?GET")).await["note"]["next_step"].clone();
        assert!(next.as_str().unwrap().contains("with method GET and no body"), "{next}");
    }
}
