//! What is printed for each client, to be pasted by hand.

use super::*;

fn printed(client: Option<&Client>, program: &str) -> String {
    let registration =
        Registration { name: NAME.to_owned(), program: program.to_owned(), arguments: vec!["serve".to_owned()] };
    snippet(client, &registration).unwrap()
}

/// Every client, and any other.
fn every() -> impl Iterator<Item = Option<&'static Client>> {
    CLIENTS.iter().map(Some).chain([None])
}

#[test]
fn a_path_of_windows_is_kept_to_the_letter_and_wrapped_in_no_shell() {
    let program = r"C:\Program Files\bursar tools\bursar.exe";
    for client in CLIENTS.iter().filter(|client| client.own_command.is_none()) {
        let text = printed(Some(client), program);
        // A configuration may be kept with either kind of line end.
        for kept in [text.clone(), text.replace('\n', "\r\n")] {
            let servers = edit::servers(client, &kept).unwrap();
            let [(name, entry)] = servers.as_slice() else { panic!("{kept}") };
            assert_eq!(
                (name.as_str(), entry::words(entry, client.shape)),
                (NAME, vec![program.to_owned(), "serve".to_owned()])
            );
        }
        assert!(!text.contains("cmd.exe") && !text.contains("cmd /"), "{text}");
    }
    let any: serde_json::Value = serde_json::from_str(&printed(None, program)).unwrap();
    assert_eq!(any, serde_json::json!({ "command": program, "args": ["serve"] }));
}

#[test]
fn what_is_registered_is_the_program_that_is_here_and_nothing_that_fetches_another() {
    for client in every() {
        let text = printed(client, "/opt/bursar");
        for fetcher in ["npx", "uvx", "pipx", "docker", "@latest", "curl"] {
            assert!(!text.contains(fetcher), "{fetcher} is in {text}");
        }
        assert!(text.contains("/opt/bursar"), "{text}");
    }
}

#[test]
fn a_path_with_a_space_or_a_quote_stays_one_shell_word() {
    let text = printed(Client::named("claude-code"), "/opt/it's here/bursar");
    assert!(text.ends_with(r"-- '/opt/it'\''s here/bursar' serve"), "{text}");
}
