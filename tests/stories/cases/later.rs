//! Rows about what this program does not do yet, each with the step of the plan that brings it. A row in no list, bound
//! to no test and decided no other way has to run.

/// What is missing, and the rows that wait for it.
const LATER: &[(&str, &[&str])] = &[];

/// What row `id` waits for, if it does.
pub(crate) fn reason(id: &str) -> Option<&'static str> {
    LATER.iter().find(|(_, rows)| rows.contains(&id)).map(|(reason, _)| *reason)
}
