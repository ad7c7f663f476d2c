//! Writes the snapshots of the tools: `cargo run -p bursar-tools --example schemas`.
//!
//! Run it when a tool was changed on purpose, and look at the difference before it is committed.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"));
    std::fs::create_dir_all(folder)?;
    for (name, text) in bursar_tools::tool_schemas()? {
        std::fs::write(folder.join(format!("{name}.json")), text)?;
    }
    Ok(())
}
