//! The machine a figure belongs to: its name for the results folder, its cores, its last-level cache and how busy it is.

use crate::Result;
use std::fs;

/// Processors this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// The folder name of this machine's results, for example `amd-epyc-2`: processor, then cores.
pub fn folder() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    format!("{}-{}", slug(cpu_name(&info).unwrap_or(std::env::consts::ARCH)), cores())
}

/// Processes that wanted to run, on average over the last minute, where the system tells.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Size of the last-level cache [B], where the system tells.
pub fn last_level_cache() -> Option<usize> {
    let sizes = (0..8).map_while(|index| {
        fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()
    });
    sizes.filter_map(|size| cache_size(size.trim())).max()
}

/// Most memory that `work` had at any time beyond what there was before [B], as the kernel counts pages.
pub fn peak_bytes_of(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    give_back_freed_memory();
    // The kernel forgets the peak so far.
    fs::write("/proc/self/clear_refs", "5")?;
    let before = kilobytes(&fs::read_to_string("/proc/self/status")?, "VmRSS:");
    work()?;
    let peak = kilobytes(&fs::read_to_string("/proc/self/status")?, "VmHWM:");
    let peak = peak.zip(before).ok_or("the system does not tell how much memory is used")?;
    Ok(1024 * peak.0.saturating_sub(peak.1))
}

/// Has the allocator return what it keeps of freed memory, so that memory which is used again counts again.
fn give_back_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim has no preconditions; it only unmaps pages that no allocation uses. The test below frees and
    // allocates around it.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A line of `/proc/self/status`, for example `VmRSS:     1234 kB`.
fn kilobytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The processor's name from the text of `/proc/cpuinfo`.
fn cpu_name(info: &str) -> Option<&str> {
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// Lower-case letters and digits, joined by single dashes, so that the name is a folder on every system.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Bytes from the kernel's spelling, for example `32768K`.
fn cache_size(text: &str) -> Option<usize> {
    let (number, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    Some(number.parse::<usize>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_name_becomes_a_folder_name() {
        let info =
            "processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X 16-Core Processor\nflags\t: fpu\n";
        assert_eq!(
            cpu_name(info).map(slug).as_deref(),
            Some("amd-ryzen-9-7950x-16-core-processor")
        );
        assert_eq!(slug("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel-r-xeon-r-cpu-2-20ghz");
        assert_eq!(cpu_name("processor : 0"), None);
    }

    #[test]
    fn the_peak_of_memory_counts_what_was_freed_again() {
        let bytes = 64 << 20;
        // Freed before: many pieces, small enough for the allocator to keep.
        drop(std::hint::black_box(vec![vec![1_u8; 60_000]; bytes / 60_000]));
        let peak = peak_bytes_of(|| {
            drop(std::hint::black_box(vec![vec![2_u8; 60_000]; bytes / 60_000]));
            Ok(())
        });
        let peak = peak.expect("Linux tells");
        assert!((bytes as u64 / 2..2 * bytes as u64).contains(&peak), "{peak}");
        assert_eq!(kilobytes("Name: x\nVmRSS:\t 12 kB\n", "VmRSS:"), Some(12));
        assert_eq!(kilobytes("Name: x\n", "VmRSS:"), None);
    }

    #[test]
    fn cache_sizes_are_read_as_the_kernel_spells_them() {
        assert_eq!(cache_size("32768K"), Some(32 << 20));
        assert_eq!(cache_size("4M"), Some(4 << 20));
        assert_eq!(cache_size("512"), Some(512));
        assert_eq!(cache_size(""), None);
        assert_eq!(cache_size("K"), None);
    }
}
