//! The documentation builds without a warning.
//!
//! We write units in brackets, `[m]`, which rustdoc takes for links to an item `m`. So instead of denying warnings we
//! read them, and let those go that complain about a unit.

use crate::cargo::{CARGO_LIMIT, cargo};
use crate::process::{self, Ending, Stream};
use crate::report::Outcome;
use serde_json::Value;

/// Units that stand alone in brackets. Composed ones, `[N/m]`, are no words, and rustdoc leaves them alone.
const UNITS: &[&str] = &[
    "1", "B", "Hz", "J", "K", "N", "Pa", "W", "bytes", "deg", "kg", "m", "m²", "m³", "m⁴", "m⁵",
    "mm", "ms", "rad", "s", "sr", "voxels",
];

/// Documents the workspace; every warning but those about units fails it.
pub fn check(arguments: &[String]) -> Result<Outcome, String> {
    let mut findings = Vec::new();
    let mut command = cargo(&["doc", "--no-deps", "--message-format=json"]);
    let ending =
        process::run_lines(command.args(arguments), CARGO_LIMIT, |stream, line| match stream {
            // Cargo's own count of warnings would include those that we let go.
            Stream::Err if line.starts_with("warning: ") && line.contains(" generated ") => {}
            Stream::Err => eprintln!("{line}"),
            Stream::Out => findings.extend(finding(line)),
        });
    match ending {
        Ok(Ending::Exited(status)) if status.success() => Ok(Outcome::of_check(&findings)),
        Ok(Ending::Exited(_)) => {
            Outcome::of_check(&findings);
            Err("the documentation does not build".to_string())
        }
        Ok(ending) => Err(format!("cargo doc hung: {ending:?}")),
        Err(why) => Err(why.to_string()),
    }
}

/// The text of a warning or error in a line of cargo's, unless it is about a unit.
fn finding(line: &str) -> Option<String> {
    let json: Value = serde_json::from_str(line).ok()?;
    let message = &json["message"];
    let words = message["message"].as_str().filter(|_| json["reason"] == "compiler-message")?;
    let is_count = message["code"].is_null() && message["level"] == "warning";
    let is_unit = message["code"]["code"] == "rustdoc::broken_intra_doc_links"
        && UNITS.iter().any(|unit| words == format!("unresolved link to `{unit}`"));
    (!is_count && !is_unit)
        .then(|| message["rendered"].as_str().unwrap_or(words).trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(code: Option<&str>, level: &str, words: &str) -> bool {
        let code = code.map_or(Value::Null, |code| json!({"code": code}));
        let message = json!({"code": code, "level": level, "message": words, "rendered": words});
        finding(&json!({"reason": "compiler-message", "message": message}).to_string()).is_some()
    }

    #[test]
    fn a_broken_link_is_found_and_a_unit_is_none() {
        let links = Some("rustdoc::broken_intra_doc_links");
        assert!(found(links, "warning", "unresolved link to `Domain`"));
        assert!(!found(links, "warning", "unresolved link to `m`"));
        assert!(found(Some("rustdoc::bare_urls"), "warning", "this URL is not a hyperlink"));
        assert!(found(None, "error", "expected item after doc comment"));
    }

    #[test]
    fn counts_and_other_messages_are_no_findings() {
        assert!(!found(None, "warning", "3 warnings emitted"));
        assert_eq!(finding("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }
}
