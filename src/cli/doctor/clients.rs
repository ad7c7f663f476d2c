//! The MCP clients here: whether they start bursar, and what else they start that pays.

use std::path::Path;

use bursar_vault::profile::Profile;

use super::line::Lines;
use super::rivals::{of_plugin, of_server};
use crate::cli::install::{Server, Survey, surveys};
use crate::spelling::shell_word;
use crate::wallet;

/// Looks at every client under `home`.
pub(super) fn look(lines: &mut Lines, profile: &Profile, home: &Path) {
    let found = surveys(home);
    if found.is_empty() {
        return lines.warn(
            "clients",
            format!("no MCP client was found under `{}`", home.display()),
            "bursar install CLIENT",
        );
    }
    let mut registered = Vec::new();
    for survey in &found {
        match &survey.servers {
            Err(why) => lines.warn(
                "clients",
                format!("{}: `{}` cannot be read: {why}", survey.name, survey.file),
                format!("mend it, then: bursar install {}", survey.id),
            ),
            Ok(servers) => {
                if servers.iter().any(|server| server.is_ours) {
                    registered.push(survey.name);
                }
                of_one(lines, profile, survey, servers);
            }
        }
    }
    if registered.is_empty() {
        let names: Vec<&str> = found.iter().map(|survey| survey.name).collect();
        lines.warn("clients", format!("no client here starts bursar ({})", names.join(", ")), "bursar install");
    } else {
        lines.pass("clients", format!("bursar is registered with {}", registered.join(", ")));
    }
}

fn of_one(lines: &mut Lines, profile: &Profile, survey: &Survey, servers: &[Server]) {
    let ours: Vec<&Server> = servers.iter().filter(|server| server.is_ours).collect();
    let again = || format!("bursar install {}", survey.id);
    for server in &ours {
        let Some(program) = server.words.first() else { continue };
        if !Path::new(program).is_file() {
            lines.warn("clients", format!("{} starts `{program}`, which is not there", survey.name), again());
        }
    }
    if !ours.is_empty() && !ours.iter().any(|server| is_of(server, profile)) {
        lines.warn(
            "clients",
            format!("{} starts bursar with another profile than this one", survey.name),
            format!("{} --as NAME", again()),
        );
    }
    if !ours.is_empty() && survey.mode & 0o022 != 0 {
        lines.warn(
            "clients",
            format!(
                "others can write `{}` (mode {:04o}), and put another program in the place of bursar",
                survey.file, survey.mode
            ),
            format!("chmod go-w {}", shell_word(&survey.file)),
        );
    }
    let rivals =
        servers.iter().filter(|server| !server.is_ours).filter_map(|server| Some((&server.name, of_server(server)?)));
    for (name, why) in rivals {
        lines.warn(
            "rivals",
            format!("{} also starts the server `{name}`, which {why}: it would not ask bursar, and no limit here counts for it", survey.name),
            format!("take `{name}` out of {}, unless it is meant to be", survey.file),
        );
    }
    for plugin in survey.plugins.iter().filter(|plugin| of_plugin(plugin)) {
        lines.warn(
            "rivals",
            format!(
                "{} has the plugin `{plugin}`, which seems to pay or to hold a wallet, past every limit here",
                survey.name
            ),
            format!("remove it in {}, unless it is meant to be", survey.name),
        );
    }
}

/// Whether an entry starts bursar with this profile.
fn is_of(server: &Server, profile: &Profile) -> bool {
    let wanted: Vec<String> =
        wallet::arguments(profile).iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let global = server.words.iter().skip(1).take_while(|word| *word != "serve").cloned().collect::<Vec<_>>();
    global == wanted
}
