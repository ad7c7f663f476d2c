//! A machine for one page: files, processes and a network of its own (machine.sh), in which its users run commands. Nothing of
//! the machine below it is changed, and whatever ran in it ends with it.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::page::ROOT;

/// How long it may take until it is there.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where every user of it finds a checkout with a program that was built.
pub(crate) const CHECKOUT: &str = "/mnt/checkout";

/// The machine.
pub(crate) struct Machine {
    holder: Child,
    /// A PostgreSQL server in it, which ends with it.
    server: Option<Child>,
}

/// Who is at it, and where.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    /// A user of the machine.
    pub(crate) user: &'static str,
    /// The folder in which commands run.
    pub(crate) folder: &'static str,
    /// What stands in the environment, beside the home folder.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Seat {
    /// The reader of the pages, at home.
    pub(crate) const fn reader() -> Self {
        Self { user: "you", folder: "/home/you", variables: Vec::new() }
    }
}

impl Machine {
    /// Makes one.
    pub(crate) async fn start() -> Self {
        assert!(
            rustix::process::geteuid().is_root(),
            "each page of the guide is played on a machine of its own, which only root can make: run this test as root \
             (`sudo -E cargo test`)"
        );
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        unshare.args([&format!("{ROOT}/tests/guide/machine.sh"), ROOT, env!("CARGO_BIN_EXE_bursar")]);
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut holder = unshare.spawn().unwrap_or_else(|fault| panic!("`unshare` of util-linux is needed: {fault}"));
        assert_eq!(first_line(&mut holder).await, "ready", "the machine was not made; what was said stands above");
        Self { holder, server: None }
    }

    /// The start of a command in it.
    pub(crate) fn command(&self, seat: &Seat, program: &str) -> Command {
        let Seat { user, folder, variables } = seat;
        let home = if *user == "root" { "/root".to_owned() } else { format!("/home/{user}") };
        let spaces = format!("/proc/{}", self.holder.id().unwrap());
        let mut command = Command::new("nsenter");
        for (kind, name) in [("mount", "mnt"), ("net", "net"), ("pid", "pid_for_children")] {
            command.arg(format!("--{kind}={spaces}/ns/{name}"));
        }
        command.arg(format!("--root={spaces}/root"));
        command.args(["setpriv", &format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"]);
        if *user != "root" {
            command.args(["--inh-caps=-all", "--bounding-set=-all"]);
        }
        command.args(["env", "-i", "-C", folder, "PATH=/usr/bin:/usr/local/bin:/usr/sbin:/bin", "TERM=xterm"]);
        command.arg(format!("HOME={home}")).args(variables.iter().map(|(name, value)| format!("{name}={value}")));
        command.arg(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Starts a PostgreSQL server in it, at the usual port. Gives what its owner's commands find it by.
    pub(crate) async fn serve_postgres(&mut self) -> Vec<(&'static str, String)> {
        let root = Seat { user: "root", folder: CHECKOUT, variables: Vec::new() };
        let mut serve = self.command(&root, "tests/postgres/serve");
        let mut server = serve.arg("5432").stderr(Stdio::inherit()).spawn().unwrap();
        let said = first_line(&mut server).await;
        let folder = said.strip_prefix("ready ").unwrap_or_else(|| panic!("PostgreSQL did not start: {said}"));
        let found = vec![("PGHOST", folder.to_owned()), ("PGUSER", "keeper".to_owned())];
        self.server = Some(server);
        found
    }
}

async fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    timeout(PATIENCE, told.read_line(&mut line)).await.expect("nothing was said").unwrap();
    line.trim_end().to_owned()
}
