//! Child processes under a watchdog: nothing that xtask starts can hang it, or outlive it unnoticed.
//!
//! A test may start `mpirun`, which puts its ranks into process groups of their own, and ranks lose their parent when
//! `mpirun` dies. Neither the group nor the tree of parents finds them all, so each child carries a mark in its
//! environment, which everything below it inherits, and the watchdog ends whatever bears that mark.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How often a waiting watchdog looks at its child.
const LOOK: Duration = Duration::from_millis(100);
/// How long something below a finished child may keep its output open before it counts as left behind.
const GRACE: Duration = Duration::from_secs(3);
/// The environment variable that carries the mark.
const MARK: &str = "UNDINE_XTASK_CHILD";

/// How a watched child ended.
#[derive(Debug)]
pub enum Ending {
    /// It ended by itself, and so did everything it started.
    Exited(ExitStatus),
    /// It ended, but something it had started was still running, and was killed.
    LeftProcesses,
    /// The watchdog killed it, and everything it had started.
    Killed,
}

/// Where a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Runs `command` and hands over each line that it prints; kills it after `silence` without a line.
pub fn run_lines(
    command: &mut Command,
    silence: Duration,
    mut on_line: impl FnMut(Stream, &str),
) -> io::Result<Ending> {
    let (mut child, mark) =
        spawn_marked(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let (sender, lines) = mpsc::channel();
    read_lines(child.stdout.take(), Stream::Out, sender.clone());
    read_lines(child.stderr.take(), Stream::Err, sender);

    let mut last_line = Instant::now();
    let mut ended: Option<Instant> = None;
    loop {
        match lines.recv_timeout(LOOK) {
            Ok((stream, line)) => {
                last_line = Instant::now();
                on_line(stream, &line);
            }
            // Both ends of the output are closed: nothing can follow but the end of the child itself.
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(match wait_at_most(&mut child, silence)? {
                    Some(status) => Ending::Exited(status),
                    None => kill(&mut child, &mark).map(|()| Ending::Killed)?,
                });
            }
            Err(RecvTimeoutError::Timeout) => {
                if ended.is_none() {
                    ended = child.try_wait()?.map(|_| Instant::now());
                }
                match ended {
                    Some(when) if when.max(last_line).elapsed() > GRACE => {
                        kill_marked(&mark);
                        return Ok(Ending::LeftProcesses);
                    }
                    None if last_line.elapsed() > silence => {
                        kill(&mut child, &mark)?;
                        return Ok(Ending::Killed);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Runs `command` with its output going to the terminal; kills it when it takes longer than `limit`.
pub fn run_shown(command: &mut Command, limit: Duration) -> io::Result<Ending> {
    let (mut child, mark) = spawn_marked(command.stdin(Stdio::null()))?;
    match wait_at_most(&mut child, limit)? {
        Some(status) => Ok(Ending::Exited(status)),
        None => kill(&mut child, &mark).map(|()| Ending::Killed),
    }
}

/// Standard output of `program` with `arguments`, if it can be run and succeeds.
pub fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn spawn_marked(command: &mut Command) -> io::Result<(Child, String)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let value = format!("{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let child = command.env(MARK, &value).spawn().map_err(|why| {
        io::Error::new(
            why.kind(),
            format!("cannot start `{}`: {why}", command.get_program().to_string_lossy()),
        )
    })?;
    Ok((child, format!("{MARK}={value}")))
}

fn read_lines(
    source: Option<impl Read + Send + 'static>,
    stream: Stream,
    sender: Sender<(Stream, String)>,
) {
    let Some(source) = source else { return };
    thread::spawn(move || {
        let mut reader = BufReader::new(source);
        let mut line = Vec::new();
        // The output of a crashing program need not be UTF-8.
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_string();
            if sender.send((stream, text)).is_err() {
                return;
            }
            line.clear();
        }
    });
}

fn wait_at_most(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if start.elapsed() > limit => return Ok(None),
            None => thread::sleep(LOOK),
        }
    }
}

fn kill(child: &mut Child, mark: &str) -> io::Result<()> {
    // The tree first: once the parent is gone, its children may start to react by printing or starting others.
    kill_marked(mark);
    child.kill()?;
    child.wait().map(drop)
}

/// Kills every process that bears the mark, again until none is found, for a process may fork while we look.
fn kill_marked(mark: &str) {
    for _ in 0..5 {
        let found = marked(mark);
        if found.is_empty() {
            return;
        }
        // The shell's own `kill`: a minimal Debian has no program of that name. A process that is gone is no error.
        let _ = Command::new("sh")
            .args(["-c", "kill -KILL \"$@\"", "sh"])
            .args(found)
            .stderr(Stdio::null())
            .env_remove(MARK)
            .status();
        thread::sleep(LOOK);
    }
}

/// The processes whose environment holds `mark`. Dead ones have no environment, and so are never listed.
fn marked(mark: &str) -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter(|entry| {
            entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
        })
        .filter(|entry| {
            std::fs::read(entry.path().join("environ")).is_ok_and(|environment| {
                environment.split(|&byte| byte == 0).any(|pair| pair == mark.as_bytes())
            })
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_of_both_streams_arrive_with_the_exit_status() {
        let mut lines = Vec::new();
        let ending = run_lines(
            &mut shell("echo one; echo two >&2; printf last; exit 3"),
            GRACE,
            |stream, line| {
                lines.push((stream, line.to_string()));
            },
        );
        assert!(matches!(ending, Ok(Ending::Exited(status)) if status.code() == Some(3)));
        assert!(lines.contains(&(Stream::Out, "one".to_string())));
        assert!(lines.contains(&(Stream::Err, "two".to_string())));
        assert!(lines.contains(&(Stream::Out, "last".to_string())));
    }

    #[test]
    fn a_silent_program_is_killed_with_all_that_it_started() {
        // The inner shell leaves its parent, as the ranks of a dead mpirun do.
        let script = "(sh -c 'sleep 1000; :' &) ; echo begun; sleep 1000";
        let (mut child, mark) =
            spawn_marked(shell(script).stdout(Stdio::null())).expect("sh starts");
        while marked(&mark).len() < 3 {
            thread::sleep(LOOK);
        }
        kill(&mut child, &mark).expect("the child can be killed");
        assert_eq!(marked(&mark), Vec::<String>::new());

        let ending = run_lines(&mut shell(script), Duration::from_millis(300), |_, _| {});
        assert!(matches!(ending, Ok(Ending::Killed)), "{ending:?}");
    }

    #[test]
    fn a_program_that_leaves_others_running_is_told_on() {
        let ending = run_lines(&mut shell("sleep 1000 & exit 0"), GRACE * 10, |_, _| {});
        assert!(matches!(ending, Ok(Ending::LeftProcesses)), "{ending:?}");
    }

    #[test]
    fn a_shown_program_over_its_limit_is_killed() {
        let ending = run_shown(&mut shell("sleep 1000"), LOOK);
        assert!(matches!(ending, Ok(Ending::Killed)), "{ending:?}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let why = run_shown(&mut Command::new("no-such-program"), LOOK)
            .expect_err("there is no such program");
        assert!(why.to_string().contains("no-such-program"));
    }
}
