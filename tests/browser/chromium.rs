//! A headless Chromium whose only network is the test's seller, and hands that move it as an agent's tools would.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar::browser::cdp::{Cdp, CdpFault, Session};
use bursar::browser::join::Endpoint;
use bursar::browser::launch;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

use crate::seller::{HOST, OTHER, Seller};
use crate::stage::{LOOK_AGAIN, PATIENCE};

/// The installed Chromium.
fn program() -> PathBuf {
    launch::installed().or_else(brought).unwrap_or_else(|| {
        panic!(
            "these tests need a Chromium, and none is installed: install one (Debian: `apt-get install chromium`), or \
             run `cd tests/chromium && npm ci && node bring.mjs`"
        )
    })
}

/// Words with which it reaches nothing but `seller`, and trusts it. What is different here from how a person starts it is
/// in this one place, and never in the program under test. The last word has it be what a person's browser is, one that says of
/// itself that no program drives it; [`Page::is_driven`] takes that back for one page.
fn bounds(seller: &Seller) -> [String; 8] {
    [
        "--no-sandbox".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--disable-background-networking".to_owned(),
        format!("--ignore-certificate-errors-spki-list={}", seller.fingerprint),
        format!(
            "--host-resolver-rules=MAP {HOST} 127.0.0.1, MAP {OTHER} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        ),
        "--disable-blink-features=AutomationControlled".to_owned(),
    ]
}

/// Writes a program that starts it within these bounds.
///
/// A child writes it: were it open for writing here, another test's child could inherit that and keep it from starting.
pub(crate) async fn wrapper(folder: &Path, seller: &Seller) -> PathBuf {
    let path = folder.join("chromium");
    let words = bounds(seller).map(|word| format!("'{word}'")).join(" ");
    let lines = format!("#!/bin/sh\nexec '{}' {words} \"$@\"\n", program().display());
    let write = r#"printf %s "$1" >"$2" && chmod 0700 "$2""#;
    let written = Command::new("/bin/sh").args(["-c", write, "sh", &lines]).arg(&path).status().await.unwrap();
    assert!(written.success());
    path
}

/// What `tests/chromium/bring.mjs` unpacked.
fn brought() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tests/chromium/chromium");
    path.exists().then_some(path)
}

/// A browser with a debugging port. It ends with this.
pub(crate) struct Chromium {
    child: Child,
    pub(crate) endpoint: String,
    cdp: Cdp,
}

/// One page of it.
pub(crate) struct Page<'a> {
    cdp: &'a Cdp,
    pub(crate) target: String,
    session: Session,
}

impl Chromium {
    /// Starts it, and waits until it listens.
    pub(crate) async fn start(folder: &Path, seller: &Seller) -> Self {
        let data = folder.join("data");
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        let mut child = Command::new(program())
            .args(bounds(seller))
            .args(["--headless=new", "--remote-debugging-port=0", "--no-first-run"])
            .arg(format!("--user-data-dir={}", data.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut words = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening = async {
            loop {
                let line = words.next_line().await.unwrap().expect("the browser ended at once");
                if let Some((_, endpoint)) = line.split_once("DevTools listening on ") {
                    return endpoint.trim().to_owned();
                }
            }
        };
        let endpoint = timeout(PATIENCE, listening).await.expect("the browser opened no port");
        // What it says later is read, so that it never waits for us.
        tokio::spawn(async move { while let Ok(Some(_)) = words.next_line().await {} });
        let (cdp, _) = endpoint.parse::<Endpoint>().unwrap().join().await.unwrap();
        Self { child, endpoint, cdp }
    }

    /// Opens a page and waits until it has loaded.
    pub(crate) async fn open(&self, url: &str) -> Page<'_> {
        let page = self.blank().await;
        page.go(url).await;
        page
    }

    /// Opens an empty page.
    pub(crate) async fn blank(&self) -> Page<'_> {
        let made = self.cdp.call(None, "Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
        self.page(made["targetId"].as_str().unwrap()).await
    }

    /// The page with an address, once there is one.
    pub(crate) async fn page_at(&self, url: &str) -> Page<'_> {
        let mut tick = interval(LOOK_AGAIN);
        let found = timeout(PATIENCE, async {
            loop {
                tick.tick().await;
                if let Some(found) = self.targets().await.into_iter().find(|target| target["url"] == url) {
                    return found;
                }
            }
        });
        let found = found.await.unwrap_or_else(|_| panic!("no page at {url}"));
        self.page(found["targetId"].as_str().unwrap()).await
    }

    /// Every page.
    pub(crate) async fn targets(&self) -> Vec<Value> {
        let found = self.cdp.call(None, "Target.getTargets", json!({})).await.unwrap();
        let targets = found["targetInfos"].as_array().unwrap().iter();
        targets.filter(|target| target["type"] == "page").cloned().collect()
    }

    /// Ends it as a crash would.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    async fn page(&self, target: &str) -> Page<'_> {
        let how = json!({ "targetId": target, "flatten": true });
        let attached = self.cdp.call(None, "Target.attachToTarget", how).await.unwrap();
        let session = serde_json::from_value(attached["sessionId"].clone()).unwrap();
        Page { cdp: &self.cdp, target: target.to_owned(), session }
    }
}

impl Page<'_> {
    /// Goes to an address and waits for the answer's head.
    pub(crate) async fn go(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url })).await;
        // A page of this address is there when it runs a script.
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
            .await;
    }

    /// Runs a script in the page and gives what it comes to.
    pub(crate) async fn run(&self, script: &str) -> Value {
        let ask = json!({ "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        self.call("Runtime.evaluate", ask).await["result"]["value"].clone()
    }

    /// What a person reads on it, once it is loaded.
    pub(crate) async fn text(&self) -> Value {
        self.run(
            "new Promise(told => {
                const tell = () => told(document.body.innerText);
                if (document.readyState === 'complete') tell(); else addEventListener('load', tell);
            })",
        )
        .await
    }

    /// Starts a script whose end nobody waits for.
    pub(crate) async fn start(&self, script: &str) {
        self.run(&format!("{script};0")).await;
    }

    /// Writes what the page looks like to a file, for people.
    pub(crate) async fn picture(&self, path: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" })).await;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// Waits until a condition holds in the page.
    pub(crate) async fn until(&self, condition: &str) {
        let look = format!(
            "new Promise(done => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look(); }})"
        );
        let ask = json!({ "expression": look, "awaitPromise": true, "returnByValue": true });
        // A page that is loaded anew meanwhile forgets what it was asked, or is too young to answer: then it is asked again.
        let asked = async {
            loop {
                match self.cdp.call(Some(&self.session), "Runtime.evaluate", ask.clone()).await {
                    Ok(told) if told["result"]["value"] == true => return,
                    Ok(_) | Err(CdpFault::Refused { .. }) => {}
                    Err(fault) => panic!("{fault}"),
                }
            }
        };
        if timeout(PATIENCE, asked).await.is_err() {
            panic!("`{condition}` never came about: {}", self.run("document.body.innerText").await);
        }
    }

    /// Presses a key.
    pub(crate) async fn press(&self, key: &str) {
        let (number, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            other => panic!("no key `{other}`"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", event).await;
        }
    }

    /// Types into whatever has the focus.
    pub(crate) async fn types(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text })).await;
    }

    /// Presses Tab until an element has the focus.
    pub(crate) async fn tabs_to(&self, selector: &str) {
        for _ in 0..80 {
            if self.run(&format!("document.activeElement.matches({selector:?})")).await == true {
                return;
            }
            self.press("Tab").await;
        }
        panic!("no Tab leads to `{selector}`");
    }

    /// Says from now on, as a browser does that a program drives, that one does (`navigator.webdriver`).
    pub(crate) async fn is_driven(&self) {
        self.call("Emulation.setAutomationOverride", json!({ "enabled": true })).await;
    }

    /// Takes this width, in CSS pixels, and these colours.
    pub(crate) async fn looks(&self, width: u32, scheme: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size).await;
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        self.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
    }

    /// Writes what the whole page looks like to a file, for people.
    pub(crate) async fn whole_picture(&self, path: &Path) {
        let size = self.call("Page.getLayoutMetrics", json!({})).await["cssContentSize"].clone();
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        let how = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = self.call("Page.captureScreenshot", how).await;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// Closes it.
    pub(crate) async fn close(&self) {
        self.cdp.call(None, "Target.closeTarget", json!({ "targetId": self.target })).await.unwrap();
    }

    async fn call(&self, method: &'static str, params: Value) -> Value {
        self.cdp.call(Some(&self.session), method, params).await.unwrap()
    }
}
