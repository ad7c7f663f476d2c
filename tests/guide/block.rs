//! A console block taken apart: the commands, what a reader types, and what the page shows of each.

use crate::page::Block;

/// One command of a console block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// What is typed at the prompt, without the prompt.
    pub(crate) command: String,
    /// What the page shows below it, line by line.
    pub(crate) shown: Vec<String>,
}

/// A question that the command asks and what the page answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What stands before the answer on its line, the space included.
    pub(crate) question: String,
    /// What is typed; `passphrase` stands for the sandbox's.
    pub(crate) typed: String,
}

/// The steps of a block. A command begins with `$ ` and goes on in lines that begin with `> `.
pub(crate) fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), shown: Vec::new() });
            continue;
        }
        let step = steps.last_mut().unwrap_or_else(|| panic!("line {}: a console block begins with `$ `", block.line));
        match line.strip_prefix("> ") {
            Some(more) if step.shown.is_empty() => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            _ => step.shown.push(line.to_owned()),
        }
    }
    steps
}

/// Whether no terminal shows what is typed.
fn is_hidden(typed: &str) -> bool {
    matches!(typed, "passphrase" | "Enter") || typed.ends_with("password")
}

impl Step {
    /// The questions that the page answers, in order: an answer stands in `‹›` at the end of its line.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let marked = self.shown.iter().filter_map(|line| line.strip_suffix('›')?.split_once('‹'));
        marked.map(|(question, typed)| Answer { question: question.to_owned(), typed: typed.to_owned() }).collect()
    }

    /// What is shown before somebody presses Ctrl-C, where somebody does: `^C` stands on a line of its own.
    pub(crate) fn until_stopped(&self) -> Option<&[String]> {
        let at = self.shown.iter().position(|line| line == "^C")?;
        self.shown.get(..at)
    }

    /// What the page shows, with each answer as a terminal shows it: a passphrase is not shown.
    pub(crate) fn screen(&self) -> Vec<String> {
        let plain = |line: &String| match line.strip_suffix('›').and_then(|line| line.split_once('‹')) {
            Some((question, typed)) if is_hidden(typed) => question.trim_end().to_owned(),
            Some((question, typed)) => format!("{question}{typed}"),
            None => line.clone(),
        };
        self.shown.iter().filter(|line| *line != "^C").map(plain).collect()
    }
}

#[test]
fn a_block_is_commands_answers_and_what_is_shown() {
    let text = "$ bursar a \\\n> b\nAgree: ‹1.00 USD›\nPassphrase: ‹passphrase›\ndone\n$ bursar c\n".to_owned();
    let steps = steps(&Block { info: "console".to_owned(), text, line: 1 });
    assert_eq!((steps.len(), steps[0].command.as_str()), (2, "bursar a \\\nb"));
    let answer = |question: &str, typed: &str| Answer { question: question.to_owned(), typed: typed.to_owned() };
    assert_eq!(steps[0].answers(), [answer("Agree: ", "1.00 USD"), answer("Passphrase: ", "passphrase")]);
    assert_eq!(steps[0].screen(), ["Agree: 1.00 USD", "Passphrase:", "done"]);
    assert_eq!((steps[1].answers(), steps[1].screen()), (Vec::new(), Vec::new()));
    assert_eq!(steps[1].until_stopped(), None);
    let step = Step { command: "bursar watch".to_owned(), shown: ["a", "b", "^C", "c"].map(str::to_owned).to_vec() };
    assert_eq!(step.until_stopped(), Some(&["a".to_owned(), "b".to_owned()][..]));
    assert_eq!(step.screen(), ["a", "b", "c"]);
}
