//! The conversation of tests/clients with rmcp's own client: lists, looks, asks for a price, buys, is refused, cancels and
//! collects. Prints one line of JSON a step and judges nothing.

use std::error::Error;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::process::Command;
use tokio::sync::watch;

/// The stage at which the payment is with the seller.
const PAYING: f64 = 5.0;

#[derive(Deserialize)]
struct Settings {
    serve: Serve,
    era: String,
    asks: Asks,
}

#[derive(Deserialize)]
struct Serve {
    command: String,
    args: Vec<String>,
    env: Map<String, Value>,
}

/// The arguments of each step.
#[derive(Deserialize)]
struct Asks {
    quote: Value,
    buy: Value,
    refused: Value,
    nonsense: Value,
    slow: Value,
}

/// Hears progress: every stage in order, and the newest one for whoever waits for it.
struct Listener {
    stages: Arc<Mutex<Vec<f64>>>,
    newest: watch::Sender<f64>,
}

impl ClientHandler for Listener {
    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).push(params.progress);
        self.newest.send_replace(params.progress);
    }
}

type Client = RunningService<RoleClient, Listener>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings: Settings =
        serde_json::from_str(&std::env::args().nth(1).ok_or("the settings are the one argument")?)?;
    let mut child = Command::new(&settings.serve.command)
        .args(&settings.serve.args)
        .env_clear()
        .envs(settings.serve.env.iter().filter_map(|(name, value)| Some((name, value.as_str()?))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let pipes = (child.stdout.take().ok_or("no output")?, child.stdin.take().ok_or("no input")?);
    let lifecycle = match settings.era.as_str() {
        "modern" => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        _ => ClientLifecycleMode::Initialize,
    };
    let stages = Arc::new(Mutex::new(Vec::new()));
    let (newest, paying) = watch::channel(0.0);
    let listener = Listener { stages: Arc::clone(&stages), newest };
    let client = listener.serve_with_lifecycle(pipes, lifecycle).await?;
    converse(&client, &settings.asks, &stages, paying).await?;
    client.cancel().await?;
    child.wait().await?;
    Ok(())
}

async fn converse(
    client: &Client,
    asks: &Asks,
    stages: &Mutex<Vec<f64>>,
    mut paying: watch::Receiver<f64>,
) -> Result<(), Box<dyn Error>> {
    let version = client.peer_info().map(|info| info.protocol_version.to_string());
    say("tools", &json!({"version": version, "tools": client.list_all_tools().await?}))?;
    say("status", &call(client, "payment_session_status", json!({})).await?)?;
    say("quote", &call(client, "x402_quote", asks.quote.clone()).await?)?;
    stages.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut told = call(client, "x402_fetch", asks.buy.clone()).await?;
    let heard = stages.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(members) = told.as_object_mut() {
        members.insert("heard".to_owned(), json!(heard));
    }
    say("buy", &told)?;
    say("again", &call(client, "x402_fetch", asks.buy.clone()).await?)?;
    say("refused", &call(client, "x402_fetch", asks.refused.clone()).await?)?;
    say("nonsense", &call(client, "x402_fetch", asks.nonsense.clone()).await?)?;

    paying.mark_unchanged();
    // The library tells the server that nobody waits when a call is dropped.
    let cut = tokio::select! {
        _ = call(client, "x402_fetch", asks.slow.clone()) => "answered",
        _ = paying.wait_for(|stage| *stage == PAYING) => "cancelled",
    };
    say("cancel", &json!({"cut": cut}))?;
    say("collected", &call(client, "x402_fetch", asks.slow.clone()).await?)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<Value, Box<dyn Error>> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    Ok(serde_json::to_value(answer)?)
}

fn say(step: &str, what: &Value) -> Result<(), Box<dyn Error>> {
    let mut line = what.as_object().cloned().unwrap_or_default();
    line.insert("step".to_owned(), json!(step));
    writeln!(std::io::stdout(), "{}", Value::Object(line))?;
    Ok(())
}
