//! The corpus's names for reasons, and ours for the same.

/// Our codes for a reason of the corpus.
pub(crate) fn ours(reason: &str) -> &'static [&'static str] {
    match reason {
        "amount_invalid" => &["amount_invalid"],
        // Of two things wrong with the pair of chain and asset, ours looks at the chain first.
        "asset_not_allowed" => &["asset_not_allowed", "unsupported_network"],
        "bad_address" => &["address_invalid"],
        "bad_url" => &["url_invalid", "https_required"],
        "body_encoding" => &["body_encoding"],
        "clock_invalid" => &["clock_invalid"],
        "dns_failure" => &["dns_failure"],
        "domain_mismatch" => &["domain_mismatch"],
        "header_not_allowed" => &["header_not_allowed"],
        "host_not_allowed" => &["host_not_allowed"],
        "idempotency_conflict" => &["idempotency_conflict"],
        "invalid_params" => &["bad_arguments"],
        // What is no x402 at all is not refused here: it is named, and nothing can be paid.
        "malformed_challenge" => &[
            "terms_unreadable",
            "terms_conflicting",
            "terms_too_large",
            "offer_conflict",
            "unsupported_network",
            "header_too_large",
            "not_x402",
            "not_x402_html",
        ],
        "network_blocked" => &["address_not_public"],
        "no_acceptable_terms" => &["no_offers"],
        "no_challenge" => &["free"],
        "over_budget" => &["over_session_budget"],
        "over_call_cap" => &["over_payment_cap"],
        "payee_forbidden" => &["payee_forbidden"],
        "payee_not_allowed" => &["payee_not_allowed"],
        "price_above_quote" => &["price_above_ceiling"],
        "redirect_refused" => &["redirect_refused"],
        "resource_mismatch" => &["resource_mismatch"],
        "timeout_invalid" => &["timeout_invalid"],
        "timeout_too_short" => &["lifetime_too_short"],
        "unsupported_network" => &["unsupported_network"],
        "unsupported_scheme" => &["unsupported_scheme"],
        "unsupported_transfer_method" => &["unsupported_transfer_method"],
        "unsupported_version" => &["unsupported_version"],
        _ => &[],
    }
}
