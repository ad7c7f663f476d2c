//! The operator's network through the real program: a CONNECT proxy that carries a purchase and sees nothing of it, and
//! a certificate authority beside the public ones.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};

use crate::desk::{Desk, PASSPHRASE, write};
use crate::explain::fetched;
use crate::stall::{HOST, PAYEE, Stall};

/// A proxy on loopback that notes what it is asked for and what the client sends through it.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    carried: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// Says `answer` to each ask, and carries bytes where it was asked to after a 200.
    async fn saying(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy =
            Self { port: listener.local_addr().unwrap().port(), asked: Arc::default(), carried: Arc::default() };
        let (asked, carried) = (Arc::clone(&proxy.asked), Arc::clone(&proxy.carried));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let to = head.split(' ').nth(1).unwrap().to_owned();
                asked.lock().unwrap().push(head);
                client.write_all(answer.as_bytes()).await.unwrap();
                if answer.contains(" 200 ") {
                    let seller = TcpStream::connect(to).await.unwrap();
                    tokio::spawn(carry(client, seller, Arc::clone(&carried)));
                }
            }
        });
        proxy
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Carries bytes both ways and keeps those of the client.
async fn carry(client: TcpStream, seller: TcpStream, kept: Arc<Mutex<Vec<u8>>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_seller, mut to_seller) = seller.into_split();
    let back = tokio::spawn(async move { copy(&mut from_seller, &mut to_client).await });
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
        kept.lock().unwrap().extend_from_slice(&bytes[..length]);
        if to_seller.write_all(&bytes[..length]).await.is_err() {
            break;
        }
    }
    drop(to_seller);
    back.await.unwrap().unwrap_or_default();
}

/// A desk with money, whose rules put the stall on this machine and say `network` of the network.
async fn desk(stall: &Stall, network: &str) -> Desk {
    let mut desk = Desk::set_up(&["--allow", &stall.origin(), "--recipient", PAYEE]).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    assert!(text.contains("\n[sandbox]\n") && !text.contains("\n[network]\n"), "{text}");
    let hosts = format!("\n[sandbox]\nhosts = {{ \"{HOST}\" = \"127.0.0.1\" }}\n");
    write(&desk.rules(), &format!("{}\n[network]\n{network}\n", text.replacen("\n[sandbox]\n", &hosts, 1)));
    write(&desk.home.join("corp.pem"), &stall.authority_pem);
    desk.start_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    desk
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_goes_through_the_operators_proxy_which_sees_an_address_and_nothing_else() {
    let (stall, proxy) = (Stall::open().await, Proxy::saying("HTTP/1.1 200 Connection established\r\n\r\n").await);
    let network = format!("proxy = \"http://127.0.0.1:{}\"\nextra_ca = \"corp.pem\"", proxy.port);
    let desk = desk(&stall, &network).await;
    let told = fetched(&desk, &format!("{}/page", stall.origin())).await;
    assert_eq!((&told["outcome"], &told["receipt"]["state"]), (&json!("paid"), &json!("settled")), "{told}");

    // Both legs, each a tunnel of its own to the judged address.
    let address = format!("127.0.0.1:{}", stall.port);
    let ask = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    assert_eq!(proxy.asked(), [ask.clone(), ask]);
    let carried = proxy.carried.lock().unwrap().clone();
    let carried = String::from_utf8_lossy(&carried).to_ascii_lowercase();
    assert!(carried.contains(HOST), "the name that TLS asks for is in the clear, or nothing was carried");
    for word in ["/page", "http/1.1\r\n", "payment-signature", "user-agent"] {
        assert!(!carried.contains(word), "the proxy saw `{word}`");
    }

    let shown = desk.run(&["explain", &format!("{}/page", stall.origin())]).await.done();
    assert!(shown.contains("passes every rule"), "{shown}");
    assert_eq!(proxy.asked().len(), 3, "a look goes the same way");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_says_no_ends_the_call_and_nobody_is_dialled_past_it() {
    let (stall, proxy) = (Stall::open().await, Proxy::saying("HTTP/1.1 403 Forbidden\r\n\r\n").await);
    let network = format!("proxy = \"http://127.0.0.1:{}\"\nextra_ca = \"corp.pem\"", proxy.port);
    let desk = desk(&stall, &network).await;
    let told = fetched(&desk, &format!("{}/page", stall.origin())).await;
    assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("proxy_refused")), "{told}");
    assert!(told["message"].as_str().unwrap().contains("`proxy` and `proxy_secret` under [network]"), "{told}");
    assert_eq!(proxy.asked().len(), 1);
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(!log.contains("\"exposed\""), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extra_authority_makes_a_purchase_possible_while_its_file_is_the_operators_alone() {
    let stall = Stall::open().await;
    let url = format!("{}/page", stall.origin());
    let without = desk(&stall, "").await;
    let told = fetched(&without, &url).await;
    assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("tls_untrusted")), "{told}");

    let desk = desk(&stall, "extra_ca = \"corp.pem\"").await;
    let told = fetched(&desk, &url).await;
    assert_eq!((&told["outcome"], &told["receipt"]["state"]), (&json!("paid"), &json!("settled")), "{told}");
    let file = desk.home.join("corp.pem");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let told = fetched(&desk, &format!("{url}?again")).await;
    assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("tls_setup")), "{told}");
    assert!(told["message"].as_str().unwrap().contains("`extra_ca`"), "{told}");
}
