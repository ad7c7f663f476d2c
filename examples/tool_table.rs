//! Writes the table of tools into README.md. A test fails while the two differ.

#[path = "../tests/house/tool_table.rs"]
#[expect(clippy::expect_used, reason = "shared with a test")]
#[expect(unreachable_pub, reason = "shared with a test")]
mod tool_table;

use std::{fs, io};

fn main() -> io::Result<()> {
    let readme = fs::read_to_string("README.md")?;
    let fresh =
        tool_table::refreshed(&readme).ok_or_else(|| io::Error::other("README.md has no place for the table"))?;
    fs::write("README.md", fresh)
}
