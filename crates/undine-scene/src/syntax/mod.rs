//! From bytes to the tokens of a KDL 2 document that is known to be whole.
//!
//! The parser of crate `kdl` recovers from errors noisily, and overflows its stack on deep nesting. So a document is first
//! cut into [`token`]s and held against the grammar by [`grammar`], which stops at nothing, knows the usual slips, and lets
//! nothing through that the parser would trip over.

pub mod grammar;
pub mod slips;
pub mod token;

use crate::diagnostic::{Diagnostic, Place, Report, Source};

/// The largest scene file [bytes]: bulk data belongs in inputs.
pub const MAX_BYTES: u64 = 8 << 20;

/// The text of a file's bytes, or what is wrong with them.
pub fn text(name: &str, bytes: Vec<u8>) -> Result<Source, Report> {
    let mut report = Report::default();
    if bytes.len() as u64 > MAX_BYTES {
        let source = Source::new(name, "");
        let place = Place { source, span: 0..0 };
        report.add(
            Diagnostic::error(
                &place,
                format!("`{name}` is too large for a scene: {} bytes", bytes.len()),
            )
            .help(format!(
                "a scene holds at most {MAX_BYTES} bytes; keep bulk data in files of its inputs"
            )),
        );
        return Err(report);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(wrong) => {
            let valid = wrong.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(wrong.as_bytes()).into_owned();
            let source = Source::new(name, text);
            // The replacement character is what stands there now.
            let place = Place { source, span: valid..valid + '\u{fffd}'.len_utf8() };
            report.add(
                Diagnostic::error(&place, "this is not UTF-8 text")
                    .label("the first byte that is none")
                    .help("a scene is a text file in UTF-8; save it so in your editor"),
            );
            Err(report)
        }
    }
}
