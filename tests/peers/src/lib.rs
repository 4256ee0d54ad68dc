//! For tests with the real programs that our files go to and come from: OpenVDB, Blender, Pixar's USD, a browser.
//!
//! `cargo xtask setup` installs them: OpenVDB and Chromium by Debian's packages, Blender and USD as Python packages in `target/python`,
//! at the versions of `python.txt`. Nothing of them is needed to use Undine, so tests that run them stand behind the
//! features `peer-openvdb`, `peer-python` and `peer-chromium` of their crates, which `cargo xtask test` turns on where the peers are found.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// A script that takes longer hangs: many times what the longest takes. Less than a test program may be silent, so that the test
/// can say why.
const WATCHDOG: Duration = Duration::from_secs(20 * 60);

/// The variable that names another Python with Blender and USD than that of `target/python`.
const PYTHON: &str = "UNDINE_PEER_PYTHON";

/// Runs a script with Debian's own Python, which has OpenVDB's module `pyopenvdb`, and NumPy. Returns what it prints.
///
/// OpenVDB reads files at once, instead of when their voxels are asked for.
///
/// # Panics
/// If it fails, with all that it said.
pub fn openvdb(script: impl AsRef<Path>, arguments: impl Words) -> String {
    let mut command = Command::new("/usr/bin/python3");
    command.env("OPENVDB_DISABLE_DELAYED_LOAD", "1").arg(script.as_ref());
    said(command.args(arguments.words()), "python3-openvdb")
}

/// Runs OpenVDB's `vdb_print`, which says what is in files. Returns what it prints.
///
/// # Panics
/// If it complains, with all that it said.
pub fn vdb_print(arguments: impl Words) -> String {
    // It ends with success whatever it finds, and complains on either stream.
    let both = ["-c", "exec vdb_print \"$@\" 2>&1", "sh"];
    let said = said(Command::new("sh").args(both).args(arguments.words()), "libopenvdb-tools");
    assert!(!said.contains("ERROR") && !said.contains("WARNING"), "vdb_print complains:\n{said}");
    said
}

/// Runs OpenVDB's `vdb_tool`, which reads grids of every type and writes them again. Returns what it prints.
///
/// # Panics
/// If it fails, with all that it said.
pub fn vdb_tool(arguments: impl Words) -> String {
    let mut command = Command::new("vdb_tool");
    command.env("OPENVDB_DISABLE_DELAYED_LOAD", "1");
    said(command.args(arguments.words()), "libopenvdb-tools")
}

/// Runs a script with the Python that has Blender's module `bpy`, Pixar's `pxr`, and NumPy. Returns what it prints.
///
/// Blender takes a second to start: ask all that a test wants to know of one script.
///
/// # Panics
/// If it fails, with all that it said.
pub fn python(script: impl AsRef<Path>, arguments: impl Words) -> String {
    let mut command = Command::new(environment());
    // What a user has set up for a Blender or a Python of his own is not for ours.
    for variable in ["PYTHONPATH", "PYTHONHOME", "PXR_PLUGINPATH_NAME", "BLENDER_USER_RESOURCES"] {
        command.env_remove(variable);
    }
    said(command.arg(script.as_ref()).args(arguments.words()), "target/python")
}

/// Has Chromium, without a window, show a page in this many pixels, and returns the picture of it as a PNG.
///
/// # Panics
/// If it fails, with all that it said.
pub fn chromium(page: &Path, [width, height]: [usize; 2]) -> Vec<u8> {
    // A folder of its own: what a user's browser keeps is not for ours, and two tests may run at once.
    let profile = scratch_file("chromium");
    let picture = profile.join("page.png");
    fs::create_dir_all(&profile).expect("a folder for a browser");
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--hide-scrollbars", "--no-first-run", "--virtual-time-budget=2000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()));
    said(&mut command, "chromium");
    let bytes = fs::read(&picture).expect("a picture of the page");
    let _ = fs::remove_dir_all(&profile);
    bytes
}

/// The arguments of a script: anything that lists words or paths.
pub trait Words {
    /// The words one by one.
    fn words(self) -> Vec<OsString>;
}

impl<I: IntoIterator<Item = S>, S: AsRef<OsStr>> Words for I {
    fn words(self) -> Vec<OsString> {
        self.into_iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

/// The Python of `target/python`: the folder lies above this very program, wherever cargo was told to build.
fn environment() -> PathBuf {
    if let Some(named) = std::env::var_os(PYTHON) {
        return named.into();
    }
    let program = std::env::current_exe().expect("the path of this program");
    let found = program
        .ancestors()
        .map(|folder| folder.join("python"))
        .find(|folder| folder.join("installed.txt").is_file());
    let folder = found.unwrap_or_else(|| {
        panic!(
            "no Blender and USD are installed above {}: run `cargo xtask setup`, or name a Python that has them in {PYTHON}",
            program.display()
        )
    });
    folder.join("bin/python")
}

/// What a peer prints on standard output.
fn said(command: &mut Command, package: &str) -> String {
    // Into files, not pipes: whatever a peer leaves running cannot hang us by holding them open.
    let [out, err] = ["out", "err"].map(scratch_file);
    let file = |path: &Path| File::create(path).expect("a file for what a peer says");
    command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err)).process_group(0);
    let words = format!("{command:?}");
    let mut child = command.spawn().unwrap_or_else(|why| {
        panic!("cannot start {words}, of {package}: {why}; run `cargo xtask setup`")
    });
    let status = watch(&mut child);
    let [said, complained] = [&out, &err].map(|path| {
        let bytes = fs::read(path).expect("what a peer said");
        // A leftover file does no harm.
        let _ = fs::remove_file(path);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    match status {
        Some(status) if status.success() => said,
        Some(status) => panic!("{words} failed, {status}:\n{said}\n{complained}"),
        None => panic!("{words} did not end within {WATCHDOG:?}:\n{said}\n{complained}"),
    }
}

/// A new file name for what a peer says.
fn scratch_file(stream: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("undine-peer-{}-{count}.{stream}", std::process::id()))
}

/// Waits for the end of a peer: how it ended, or `None` if it had to be killed.
fn watch(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < WATCHDOG {
        if let Some(status) = child.try_wait().expect("the state of a peer") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    // The shell's own `kill`, of the whole group: a minimal Debian has no program of that name.
    let kill = format!("kill -KILL -{}", child.id());
    let _ = Command::new("sh").args(["-c", &kill]).status();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn what_a_peer_prints_is_returned_without_its_complaints() {
        assert_eq!(said(&mut shell("echo one; echo two >&2"), "sh"), "one\n");
    }

    #[test]
    #[should_panic(expected = "no such grid")]
    fn a_failing_peer_is_quoted() {
        said(&mut shell("echo no such grid >&2; exit 3"), "sh");
    }

    #[test]
    #[should_panic(expected = "cargo xtask setup")]
    fn for_a_missing_peer_one_is_told_what_to_do() {
        said(&mut Command::new("/no/such/peer"), "no-such-package");
    }

    #[test]
    fn every_python_package_is_pinned() {
        let pins = include_str!("../python.txt");
        assert!(pins.lines().all(|line| line.split_once("==").is_some_and(|(_, v)| !v.is_empty())));
    }
}
