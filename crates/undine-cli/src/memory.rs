//! How much of the machine a run may take: memory, and threads.

use undine_core::process::Processes;

/// The share of free memory that a run takes unless it is told otherwise.
const SHARE: f64 = 0.9;
/// What the system counts memory in [bytes].
const PAGE: u64 = 4096;

/// 90 % of what is free, shared by so many processes, and of what this process may have; without knowing, no limit.
pub fn default_budget(sharing: usize) -> Option<u64> {
    let free = free().map(|free| free / sharing.max(1) as u64);
    let least = free.into_iter().chain(allowed()).min()?;
    Some((least as f64 * SHARE) as u64)
}

/// What is free on the machine [bytes].
fn free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What is left of what the shell (`ulimit -v`) lets this process have, and of what a container does [bytes].
fn allowed() -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let by_shell = || {
        let limits = read("/proc/self/limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit = number(line.split_whitespace().next()?)?;
        let taken = number(read("/proc/self/statm")?.split_whitespace().next()?)?;
        Some(limit.saturating_sub(taken * PAGE))
    };
    let by_container = || {
        let limit = number(&read("/sys/fs/cgroup/memory.max")?)?;
        Some(limit.saturating_sub(number(&read("/sys/fs/cgroup/memory.current")?)?))
    };
    by_shell().into_iter().chain(by_container()).min()
}

/// How many processes of a run share this machine, as the launcher says; all of them, if it does not.
pub fn sharing(processes: &dyn Processes) -> usize {
    let said = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];
    let number = |name: &&str| std::env::var(name).ok()?.trim().parse().ok();
    let here: Option<usize> = said.iter().find_map(number);
    here.unwrap_or(processes.count()).clamp(1, processes.count())
}

/// How many threads each of so many processes has, if they have to share the cores; nothing where each has its own already.
pub fn default_threads(sharing: usize) -> Option<usize> {
    let bound = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let own = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        let all = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
        Some(own.trim() != all.trim())
    };
    let said = std::env::var_os("RAYON_NUM_THREADS").is_some();
    if sharing < 2 || said || bound().unwrap_or(false) {
        return None;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Some((cores / sharing).max(1))
}
