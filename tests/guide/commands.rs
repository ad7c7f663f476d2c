//! Every `bursar …` that a document names, in a block or in a sentence, read by the command line's own parser.

use clap::error::ErrorKind;

use crate::page::Page;

/// Whether a command stands by itself, or in a sentence, where what is obvious may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Block,
    Sentence,
}

/// The commands of a page, with their lines.
fn commands(page: &Page) -> Vec<(usize, Where, String)> {
    let mut found = Vec::new();
    for block in page.blocks() {
        if !["console", "bash", "sh"].contains(&block.info.as_str()) {
            continue;
        }
        for (at, line) in (1_usize..).zip(joined(&block.text).lines()) {
            let line = if block.info == "console" { line.strip_prefix("$ ") } else { Some(line.trim_start()) };
            if let Some(command) = line.filter(|line| line.starts_with("bursar ")) {
                found.push((block.line.saturating_add(at), Where::Block, command.to_owned()));
            }
        }
    }
    let inline = page.inline().into_iter().filter(|(_, code)| code.starts_with("bursar "));
    found.extend(inline.map(|(line, code)| (line, Where::Sentence, code)));
    found
}

/// Lines that end in a backslash, with the next one.
fn joined(text: &str) -> String {
    text.replace("\\\n> ", "").replace("\\\n", "")
}

/// The words of a simple command, up to a pipe, a redirection or a remark.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(mark), _) if mark == letter => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '"' | '\'') => (quote, is_open) = (Some(letter), true),
            (None, '#' | '|' | '>' | '&' | ';') if !is_open => break,
            (None, ' ') => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            (None, _) => {
                word.push(letter);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

/// What is wrong with a command, if anything is.
fn fault(command: &str, at: Where) -> Option<String> {
    let is_cut = command.contains('…');
    let words = words(command).into_iter().filter(|word| word != "…");
    let fault = bursar::cli::command().try_get_matches_from(words).err()?;
    match fault.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => Some(fault.to_string()),
        _ if is_cut || at == Where::Sentence => None,
        _ => Some(fault.to_string()),
    }
}

#[test]
fn no_document_names_a_command_or_a_flag_that_is_not_there() {
    let mut pages = Page::all();
    pages.extend(["README.md", "SECURITY.md", "ARCHITECTURE.md", "fixtures/README.md"].map(Page::read));
    let mut wrong = Vec::new();
    let mut count = 0_usize;
    for page in &pages {
        for (line, at, command) in commands(page) {
            count = count.saturating_add(1);
            if let Some(fault) = fault(&command, at) {
                let first = fault.lines().next().unwrap_or_default();
                wrong.push(format!("{}:{line}: `{command}`: {first}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "only {count} commands were found");
}

#[test]
fn a_wrong_flag_or_command_is_found_wherever_it_stands() {
    for (command, at) in [
        ("bursar status --bogus", Where::Sentence),
        ("bursar buy", Where::Sentence),
        ("bursar session new --budget \"1.00 USD\" --forever …", Where::Sentence),
        ("bursar session new", Where::Block),
        ("bursar approve", Where::Block),
    ] {
        assert!(fault(command, at).is_some(), "{command}");
    }
    for (command, at) in [
        ("bursar session new --purpose …", Where::Sentence),
        ("bursar approve", Where::Sentence),
        ("bursar session new --budget \"1.00 USD\"    # another", Where::Block),
        ("bursar log --json | head -1", Where::Block),
        ("bursar --help", Where::Block),
    ] {
        assert_eq!(fault(command, at), None, "{command}");
    }
}
