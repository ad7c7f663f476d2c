//! An endpoint over real sockets on loopback, which answers what a test wrote down.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bursar_policy::{ChainId, Draft, Setting};
use bursar_vault::chain::{Chains, Endpoint};

use super::super::Network;
use super::*;

const HASH: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";
/// What stands behind the host in the endpoint's URL, and must be seen nowhere else.
const KEY: &str = "k3y-0f-an-acc0unt";

/// A server that gives one answer a connection, in the order given, and keeps what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Each answer is the whole reply, or for a text that begins with `{` the body of a good one.
    fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                kept.lock().unwrap().push(request(&mut stream));
                let reply = if answer.starts_with('{') {
                    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len())
                } else {
                    answer
                };
                // Whoever asked may have left, as with an answer that is too long.
                drop(stream.write_all(reply.as_bytes()));
            }
        });
        Self { port, asked, thread: Some(thread) }
    }

    fn asked(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// One whole request, head and body.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let declared = head
            .to_ascii_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ").map(|length| length.parse::<usize>().unwrap()));
        if read == 0 || declared.unwrap_or(0) <= body.len() {
            return text;
        }
    }
}

fn rules(url: &str) -> Arc<Rules> {
    let text = format!(
        "[payment]\nmax_per_payment = \"1.00 USD\"\nnetworks = [\"eip155:84532\"]\n\
         assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]\nallow_any_recipient = true\n\
         [[chain]]\nnetwork = \"eip155:84532\"\nrpc = [\"{url}\"]\n[sandbox]\nhosts = {{ \"rpc.test\" = \"127.0.0.1\" }}"
    );
    Arc::new(Rules::new(toml::from_str::<Draft>(&text).unwrap(), Setting::Sandbox).unwrap())
}

/// The endpoint at `url`, with the network that carries it.
fn endpoint(url: &str) -> (Network, Box<dyn Endpoint>) {
    let network = Network::new(Path::new("/nowhere"));
    let endpoint = network.endpoints(&rules(url), ChainId::BASE_SEPOLIA).pop().unwrap();
    (network, endpoint)
}

/// Asks a server that answers so, by `ask`.
fn told<T>(answer: &str, ask: impl FnOnce(&dyn Endpoint) -> Result<T, EndpointFault>) -> Result<T, EndpointFault> {
    let server = Server::new(vec![answer.to_owned()]);
    let (_network, endpoint) = endpoint(&format!("http://rpc.test:{}/{KEY}", server.port));
    let told = ask(&*endpoint);
    server.asked();
    told
}

fn result(value: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{value}}}")
}

#[test]
fn each_question_is_one_request_in_the_words_of_the_specification() {
    let block = format!("{{\"number\":\"0x10\",\"hash\":\"{HASH}\",\"timestamp\":\"0x20\"}}");
    let answers =
        ["\"0x14a34\"".to_owned(), block.clone(), block, "\"0x01\"".to_owned(), "null".to_owned(), "[]".to_owned()];
    let numbered = answers.iter().zip(1..).map(|(answer, id)| result(answer).replace(":1,", &format!(":{id},")));
    let server = Server::new(numbered.collect());
    let (_network, endpoint) = endpoint(&format!("http://rpc.test:{}/{KEY}?a=b", server.port));
    let token = Address::from_bytes([0xaa; 20]);
    assert_eq!(endpoint.chain_id(), Ok(84_532));
    let block = Block { number: 16, hash: Word([0x11; 32]), time_s: 32 };
    assert_eq!(endpoint.block(Which::Final), Ok(block));
    assert_eq!(endpoint.block(Which::Number(16)), Ok(block));
    assert_eq!(endpoint.call(token, &[1, 2], At::Block(Word([0x11; 32]))), Ok(vec![1]));
    assert_eq!(endpoint.receipt(&Word([0x11; 32])), Ok(None));
    let topics = [vec![Word([1; 32]), Word([2; 32])], vec![Word([3; 32])]];
    assert_eq!(endpoint.logs(token, &topics, 5, 6), Ok(Vec::new()));

    let asked = server.asked();
    for request in &asked {
        let (head, _) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("POST /{KEY}?a=b HTTP/1.1\r\n")), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
    }
    let bodies: Vec<Value> =
        asked.iter().map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()).collect();
    let of = |number: usize| (bodies[number]["method"].as_str().unwrap(), bodies[number]["params"].clone());
    let contract = token.to_string();
    assert_eq!(of(0), ("eth_chainId", json!([])));
    assert_eq!(of(1), ("eth_getBlockByNumber", json!(["finalized", false])));
    assert_eq!(of(2), ("eth_getBlockByNumber", json!(["0x10", false])));
    let at = json!({ "blockHash": HASH, "requireCanonical": true });
    assert_eq!(of(3), ("eth_call", json!([{ "to": contract, "data": "0x0102" }, at])));
    assert_eq!(of(4), ("eth_getTransactionReceipt", json!([HASH])));
    let (one, two, three) = (Word([1; 32]).to_string(), Word([2; 32]).to_string(), Word([3; 32]).to_string());
    let filter = json!({ "address": contract, "topics": [[one, two], [three]], "fromBlock": "0x5", "toBlock": "0x6" });
    assert_eq!(of(5), ("eth_getLogs", json!([filter])));
}

#[test]
fn what_cannot_be_believed_is_a_fault_that_names_no_more_than_the_origin() {
    let another = format!("{{\"number\":\"0x11\",\"hash\":\"{HASH}\",\"timestamp\":\"0x20\"}}");
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: 4194305\r\n\r\n{}", " ".repeat(4_194_305));
    let say = |fault: EndpointFault| fault.to_string();
    let faults = [
        say(told(&result("\"0x0a\""), |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told(&result(&another), |endpoint| endpoint.block(Which::Number(16))).unwrap_err()),
        say(told(&result("null"), |endpoint| endpoint.block(Which::Final)).unwrap_err()),
        say(told("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"0x1\"}", |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told("HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n", |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told(
            &format!("HTTP/1.1 307 Else\r\nlocation: http://rpc.test/{KEY}\r\ncontent-length: 0\r\n\r\n"),
            |endpoint| endpoint.chain_id(),
        )
        .unwrap_err()),
        say(told("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told("", |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told(&long, |endpoint| endpoint.chain_id()).unwrap_err()),
        say(told("not HTTP at all", |endpoint| endpoint.chain_id()).unwrap_err()),
    ];
    for fault in faults {
        assert!(fault.contains("rpc.test") && !fault.contains(KEY), "{fault}");
        assert!(!fault.ends_with('.') && fault.is_ascii(), "{fault}");
    }
}

#[test]
fn nobody_there_is_silence_and_stays_so() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_network, endpoint) = endpoint(&format!("http://rpc.test:{closed}/{KEY}"));
    for _ in 0..2 {
        let fault = endpoint.chain_id().unwrap_err();
        assert!(matches!(&fault, EndpointFault::Silent(said) if !said.contains(KEY)), "{fault:?}");
    }
    assert!(!format!("{endpoint:?}").contains(KEY), "not in its debug form either");
}

#[test]
fn no_address_is_dialled_that_a_seller_could_not_have() {
    for host in ["10.0.0.1", "169.254.169.254", "192.168.1.1"] {
        let text = format!("https://{host}/{KEY}");
        let (_network, endpoint) = endpoint(&text);
        let fault = endpoint.chain_id().unwrap_err();
        assert!(matches!(&fault, EndpointFault::Silent(said) if said.contains("not public")), "{fault:?}");
    }
}

#[test]
fn a_vault_that_ends_waits_for_no_answer() {
    // Somebody who takes the connection and never says a word.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (network, endpoint) = endpoint(&format!("http://rpc.test:{}/", listener.local_addr().unwrap().port()));
    let asking = std::thread::spawn(move || endpoint.chain_id());
    let (_stream, _) = listener.accept().unwrap();
    network.hang_up();
    assert_eq!(asking.join().unwrap(), Err(EndpointFault::Silent("the vault is ending".to_owned())));
    let again = network.endpoints(&rules("http://rpc.test:1/"), ChainId::BASE_SEPOLIA).pop().unwrap();
    assert_eq!(again.chain_id(), Err(EndpointFault::Silent("the vault is ending".to_owned())));
}
