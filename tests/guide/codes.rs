//! The page of refusal codes, held against the table of `policy`: no code is missing, none is extra, all in its order.

use bursar_policy::Refusal;

use crate::page::Page;

/// The rows of every table of the page whose first cell is code: code, what the model hears, meaning, what to do.
fn rows() -> Vec<[String; 4]> {
    let page = Page::read("docs/refusals.md");
    let prose = page.prose().into_iter().map(|(_, line)| line);
    let lines = prose.take_while(|line| *line != "## Ends that are no refusals").filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells: Vec<String> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
            cells.try_into().unwrap_or_else(|cells| panic!("four cells are wanted: {cells:?}"))
        })
        .collect()
}

#[test]
fn the_page_tells_every_code_of_the_table_and_no_other() {
    let told = rows();
    let codes: Vec<&str> = told.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(codes, Refusal::CODES, "docs/refusals.md has to list them in order of precedence");
    for (row, advice) in told.iter().zip(&Refusal::ADVICE) {
        assert_eq!(row[0], format!("`{}`", advice.code));
        let heard = if advice.shown == advice.code { "the code".to_owned() } else { format!("`{}`", advice.shown) };
        assert_eq!(row[1], heard, "what the model hears of {}", advice.code);
        assert!(row[2].len() > 20 && row[2].ends_with('.'), "a sentence about {} is wanted: {}", advice.code, row[2]);
        let (step, more) = row[3].split_at(advice.next_step.len().min(row[3].len()));
        let starts = step.to_lowercase() == advice.next_step.to_lowercase();
        assert!(
            starts && more.starts_with('.'),
            "what to do about {}: {}, not {}",
            advice.code,
            advice.next_step,
            row[3]
        );
    }
}
