//! Results that are kept: one table per benchmark and machine, a row per run with its date and commit.

use crate::Result;
use crate::machine;
use crate::report::Report;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Appends the report to `bench/results/<cpu>-<cores>/NAME.csv` and returns that path. A void run is refused.
pub fn record(report: &Report) -> Result<PathBuf> {
    if report.void {
        return Err("a void run is not recorded".into());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(machine::folder());
    let path = folder.join(report.name).with_extension("csv");

    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut row = vec![("date".to_owned(), date(seconds)), ("commit".to_owned(), commit()?)];
    row.extend(report.fields.iter().map(|(key, value)| (key.clone(), value.to_csv())));

    fs::create_dir_all(&folder)?;
    let table = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
    fs::write(&path, with_row(&table, &row))?;
    Ok(path)
}

/// The table with one more row. Keys it has not met become new columns at the end; keys the row lacks stay empty.
fn with_row(table: &str, row: &[(String, String)]) -> String {
    let mut lines = table.lines();
    let mut columns: Vec<&str> =
        lines.next().map_or(Vec::new(), |header| header.split(',').collect());
    for (key, _) in row {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }

    let mut rows = vec![columns.join(",")];
    for line in lines {
        // Older rows end where the table ended then.
        let missing = columns.len() - line.split(',').count().min(columns.len());
        rows.push(line.to_owned() + &",".repeat(missing));
    }
    let cell = |column: &&str| {
        row.iter().find(|(key, _)| key == column).map_or("", |(_, value)| value.as_str())
    };
    rows.push(columns.iter().map(cell).collect::<Vec<_>>().join(","));
    rows.join("\n") + "\n"
}

/// The commit that is checked out, with `-changed` if files other than results differ from it.
fn commit() -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output()?;
        if !output.status.success() {
            return Err(format!(
                "git {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--", ":/", ":!results"])?;
    Ok(if changes.is_empty() { commit } else { commit + "-changed" })
}

/// The day `seconds` after 1970 began, as `2026-11-15` in UTC (Hinnant, *chrono-compatible low-level date algorithms*).
fn date(seconds: u64) -> String {
    // Days since 0000-03-01: years then begin in March, and a leap day is the last of its year.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;

    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)]) -> Vec<(String, String)> {
        cells.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_first_row_brings_the_header() {
        assert_eq!(with_row("", &row(&[("date", "d1"), ("rate", "5")])), "date,rate\nd1,5\n");
    }

    #[test]
    fn new_keys_become_columns_and_absent_ones_stay_empty() {
        let table =
            with_row("date,rate\nd1,5\n", &row(&[("date", "d2"), ("vs_peer", "3"), ("rate", "6")]));
        assert_eq!(table, "date,rate,vs_peer\nd1,5,\nd2,6,3\n");
        let table = with_row(&table, &row(&[("date", "d3"), ("rate", "7")]));
        assert_eq!(table, "date,rate,vs_peer\nd1,5,\nd2,6,3\nd3,7,\n");
    }

    #[test]
    fn dates_are_right_around_leap_days_and_centuries() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(951_868_800), "2000-03-01");
        assert_eq!(date(1_735_689_599), "2024-12-31");
        assert_eq!(date(4_107_542_400), "2100-03-01");
    }

    #[test]
    fn a_void_run_is_not_recorded() {
        let report = Report { name: "triad", fields: Vec::new(), void: true };
        assert!(record(&report).is_err());
    }
}
