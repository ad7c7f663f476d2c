//! Rows that are not run here, each with the reason. A row that is in no list has to run.

use super::row::Row;

const ELSEWHERE: &str =
    "about processes, keys, files, clocks, disks or several at once, which this test does not touch";
const CHAIN: &str = "needs a chain to be asked, which comes later";
const TIME: &str = "needs minutes or hours to pass";
const OTHERWISE: &str = "decided otherwise here, on the safe side";
const NOT_YET: &str = "not built yet";
const NO_SUCH_THING: &str = "there is no such thing here to attack";

/// Why `row` is not run; `None` for a row that has to run.
pub(crate) fn reason(row: &Row) -> Option<&'static str> {
    let runs_anyway = ["SG-016", "MC-014", "MC-016", "MC-017", "MC-021", "MC-024", "MC-034", "OP-006", "OP-015"];
    if runs_anyway.contains(&row.id.as_str()) {
        return None;
    }
    // Both are about the corpus's captures, which have a test of their own.
    if ["CH-077", "OP-027"].contains(&row.id.as_str()) {
        return Some("run as captures of real sellers");
    }
    let not_yet = ["OP-007", "OP-017", "OP-025", "OP-026", "MC-036", "SG-011", "SG-033", "LG-030"];
    if not_yet.contains(&row.id.as_str()) {
        return Some(NOT_YET);
    }
    if ["OP-016", "OP-018"].contains(&row.id.as_str()) {
        return Some(CHAIN);
    }
    match row.area.as_str() {
        "signer" | "mcp" | "config" | "ops" => Some(ELSEWHERE),
        _ => of_id(&row.id),
    }
}

fn of_id(id: &str) -> Option<&'static str> {
    Some(match id {
        // The rules file has other keys; its own tests hold money that is no money.
        "CH-017" => ELSEWHERE,
        // What a seller documents about itself is not read; the request that was asked for is what is paid.
        "CH-074" => NO_SUCH_THING,
        // Redirects are never followed, not even to the same host.
        "NW-053" => OTHERWISE,
        // Proxy variables and shared connections.
        "NW-059" | "NW-060" => ELSEWHERE,
        "NW-068" => TIME,
        // The tools take a body as text; there are no streams, and no cache of payment headers.
        "PC-013" | "LG-043" => NO_SUCH_THING,
        // Two at once, in one process or in two: the vault's tests and the demo.
        "LG-002" | "LG-003" | "LG-036" => ELSEWHERE,
        "LG-007" => TIME,
        // Crashes, clocks and disks.
        "LG-015" | "LG-019" | "LG-020" | "LG-021" | "LG-023" | "LG-024" | "LG-027" | "LG-028" | "LG-029" | "LG-031"
        | "LG-047" | "LG-048" => ELSEWHERE,
        // A bound on what one payee may leave unresolved, unless the operator writes such a limit.
        "LG-033" => NOT_YET,
        "LG-040" | "LG-050" => CHAIN,
        _ => return None,
    })
}
