//! The properties of `tests/properties/`, as a library for the fuzz targets. Must never hold one of its own.

#[path = "../../tests/properties/answer.rs"]
pub mod answer;
#[path = "../../tests/properties/base64.rs"]
pub mod base64;
#[path = "../../tests/properties/challenge.rs"]
pub mod challenge;
#[path = "../../tests/properties/claim.rs"]
pub mod claim;
#[path = "../../tests/properties/frame.rs"]
pub mod frame;
#[path = "../../tests/properties/header.rs"]
pub mod header;
#[path = "../../tests/properties/purchase.rs"]
pub mod purchase;
#[path = "../../tests/properties/rules.rs"]
pub mod rules;
#[path = "../../tests/properties/toml.rs"]
pub mod toml;
