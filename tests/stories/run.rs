//! Plays stories on a few threads. A story that breaks down is a failed story, not a failed run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use crate::check::differences;
use crate::play::{Played, play};
use crate::story::Story;

const THREADS: usize = 4;

/// Does `work` for each of `items`, several at once; the results come in any order.
pub(crate) fn on_threads<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let queue = Mutex::new(items.into_iter());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(item) = next() {
                    let result = work(item);
                    done.lock().unwrap().push(result);
                }
            });
        }
    });
    done.into_inner().unwrap()
}

/// Plays one story; what it panics with is the error.
pub(crate) fn played(story: &Story) -> Result<Played, String> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(story))
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("it broke down: {}", text.unwrap_or_default())
    })
}

/// What differs in `story`, in words.
fn failure(story: &Story) -> Option<String> {
    let differences = match played(story) {
        Ok(played) => differences(story, &played),
        Err(fault) => vec![fault],
    };
    (!differences.is_empty()).then(|| format!("fixtures/{}\n    {}", story.name, differences.join("\n    ")))
}

#[test]
fn every_story_ends_as_it_is_told() {
    let stories = Story::all();
    let count = stories.len();
    let mut failed: Vec<String> = on_threads(stories, |story| failure(&story)).into_iter().flatten().collect();
    failed.sort();
    println!("{count} stories played, {} ended otherwise", failed.len());
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n"));
}
