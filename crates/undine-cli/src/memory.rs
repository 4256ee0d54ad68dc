//! How much memory a run may take.

/// The share of free memory that a run takes unless it is told otherwise.
const SHARE: f64 = 0.9;

/// 90 % of what is free; without knowing, no limit.
pub fn default_budget() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some((kilobytes as f64 * 1024.0 * SHARE) as u64)
}
