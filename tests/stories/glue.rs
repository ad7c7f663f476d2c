//! A scripted glue with a browser of a few lines: it asks for a page in the words that bursar asked for it, with the
//! payment on top.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bursar::wire::{HeaderView, read_claim};
use bursar_policy::Site;
use bursar_vault::client::{ClientFault, GlueClient};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{Attach, Delivery, GlueRefusal, PaymentHeader, Report};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::seller::Request;
use crate::story::Glue as Does;

/// The browser: where the seller is, whom it trusts, and what the seller was asked before.
pub(crate) struct Browser {
    pub(crate) port: u16,
    pub(crate) authority_pem: String,
    pub(crate) asked: Arc<Mutex<Vec<Request>>>,
}

/// A running glue. Dropping it hangs up.
pub(crate) struct Glue {
    line: UnixStream,
    work: Option<JoinHandle<()>>,
    headers: Arc<Mutex<Vec<String>>>,
}

impl Glue {
    /// Connects before the story goes on, and does its part in a thread.
    pub(crate) fn start(profile: &Profile, does: Does, browser: Browser) -> Self {
        let (client, _) = GlueClient::connect(profile, None).unwrap();
        let line = client.stream().try_clone().unwrap();
        let headers = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&headers);
        let work = std::thread::spawn(move || {
            while let Ok(task) = client.next() {
                match task.map(|task| serve(&client, &browser, does, &task, &kept)) {
                    None | Some(Ok(Life::GoesOn)) => {}
                    Some(Ok(Life::Ends)) => return,
                    Some(Err(fault)) => panic!("the glue met {fault}"),
                }
            }
        });
        Self { line, work: Some(work), headers }
    }

    /// The value of every header that it was given.
    pub(crate) fn headers(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }
}

impl Drop for Glue {
    fn drop(&mut self) {
        // One that died has hung up already.
        drop(self.line.shutdown(Shutdown::Both));
        let ended = self.work.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

enum Life {
    GoesOn,
    Ends,
}

fn serve(
    glue: &GlueClient,
    browser: &Browser,
    does: Does,
    task: &Attach,
    headers: &Mutex<Vec<String>>,
) -> Result<Life, ClientFault> {
    let keep = |header: &PaymentHeader| headers.lock().unwrap().push(header.value().to_owned());
    let Attach { handle, url, .. } = task;
    match does {
        Does::Strays => {
            for elsewhere in [format!("{url}&more=1"), format!("{url}/"), "https://other.test/".to_owned()] {
                let header = glue.redeem(handle, &elsewhere);
                assert!(matches!(header, Err(ClientFault::Said { code, .. }) if code == "wrong_url"), "{elsewhere}");
            }
            glue.refuse(handle, GlueRefusal::Timeout)?;
        }
        Does::Dies => {
            glue.armed(handle)?;
            keep(&glue.redeem(handle, url)?);
            drop(glue.stream().shutdown(Shutdown::Both));
            return Ok(Life::Ends);
        }
        Does::Pays => {
            glue.armed(handle)?;
            match glue.redeem(handle, url) {
                Ok(header) => {
                    keep(&header);
                    glue.report(handle, browser.ask(url, &header))?;
                }
                // The agent is told why.
                Err(ClientFault::Said { code, .. }) if code == "refused" => {}
                Err(fault) => return Err(fault),
            }
        }
    }
    Ok(Life::GoesOn)
}

impl Browser {
    fn trust(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority_pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    }

    /// Asks for the page with the payment on the request, and says what came back.
    fn ask(&self, url: &str, header: &PaymentHeader) -> Report {
        let site: Site = url.parse().unwrap();
        let line = format!("GET {} HTTP/1.1", site.path_and_query());
        let bare = self.asked.lock().unwrap().iter().find(|request| request.line == line).unwrap().clone();
        let said: String = bare.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!("{line}\r\n{said}{}: {}\r\n\r\n", header.name().as_str(), header.value());
        let name = site.host().to_string().try_into().unwrap();
        let tcp = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut stream = StreamOwned::new(ClientConnection::new(self.trust(), name).unwrap(), tcp);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A seller may hang up without a farewell.
        drop(stream.read_to_end(&mut answer));
        let text = String::from_utf8_lossy(&answer).into_owned();
        let Some((head, _body)) = text.split_once("\r\n\r\n") else {
            return Report { delivery: Delivery::Silence { why: "closed".to_owned() }, settlement: None };
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        let headers: Vec<(String, Vec<u8>)> = head.lines().filter_map(pair).collect();
        let delivery = Delivery::Answer { status, content: None, content_error: None };
        Report { delivery, settlement: read_claim(HeaderView::new(&headers)).for_the_ledger() }
    }
}
