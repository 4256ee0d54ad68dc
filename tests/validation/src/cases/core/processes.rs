//! More processes, and more kills: this program starts itself again under `mpirun`.

use super::heat;
use crate::cases::CHILD;
use crate::page::Case;
use crate::verdict::Verdict;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use undine_core::glam::{DVec3, IVec3};
use undine_core::process::launch;
use undine_core::volume::VoxelShape;
use undine_core::{
    Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, Partition, Processes, Result,
};

/// The case for many processes.
pub const PROCESSES: Case = Case {
    name: "core-processes",
    doc: "A hundred steps of diffusion, rebalanced every twenty: the same bytes on 1 to 8 processes.",
    run: processes,
};

/// The case for kills.
pub const KILLS: Case = Case {
    name: "core-kills",
    doc: "One of four processes is killed at twenty different moments: all of them end, within seconds.",
    run: kills,
};

/// How long a run may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(600);

fn processes() -> Verdict {
    if !cfg!(feature = "mpi") {
        return Verdict::broken("built without MPI; `cargo xtask setup` installs it");
    }
    let mut verdict = Verdict::new();
    let mut first = None;
    for count in [1, 2, 3, 4, 5, 6, 7, 8] {
        match mpirun(count, "diffuse", Stdio::inherit()).and_then(|child| outcome(child, PATIENCE))
        {
            Ok(lines) => {
                let hash = lines
                    .into_iter()
                    .find_map(|line| line.strip_prefix("hash ").map(str::to_owned));
                let hash = hash.unwrap_or_else(|| "none".into());
                let expected = first.get_or_insert_with(|| hash.clone()).clone();
                verdict = verdict.same(&format!("hash on {count} processes"), hash, expected);
            }
            Err(why) => return Verdict::broken(why),
        }
    }
    verdict
}

fn kills() -> Verdict {
    if !cfg!(feature = "mpi") {
        return Verdict::broken("built without MPI; `cargo xtask setup` installs it");
    }
    let mut slowest = 0.0_f64;
    let mut ended = 0;
    for n in 0..20_u64 {
        match kill_one(Duration::from_millis(17 * n), n as usize % 4) {
            Ok(seconds) => {
                ended += 1;
                slowest = slowest.max(seconds);
            }
            Err(why) => return Verdict::broken(format!("kill {n}: {why}")),
        }
    }
    Verdict::new().same("runs that ended", ended, 20).at_most(
        "the slowest end after a kill [s]",
        slowest,
        10.0,
    )
}

/// Starts four processes, kills one of them when it has worked for a while, and says how long the others took to end [s].
fn kill_one(after: Duration, victim: usize) -> std::result::Result<f64, String> {
    let mut child = mpirun(4, "diffuse-forever", Stdio::null())?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut victim_id = None;
    let mut ready = 0;
    while ready < 4 {
        let line = lines
            .next()
            .ok_or("the processes ended before they worked")?
            .map_err(|why| why.to_string())?;
        let words: Vec<&str> = line.split(' ').collect();
        if let ["ready", rank, id] = words[..] {
            ready += 1;
            if rank == victim.to_string() {
                victim_id = Some(id.to_owned());
            }
        }
    }
    std::thread::sleep(after);
    let killed = Command::new("kill").args(["-KILL", &victim_id.ok_or("no victim")?]).status();
    killed.map_err(|why| why.to_string())?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if child.try_wait().map_err(|why| why.to_string())?.is_some() {
            return Ok(start.elapsed().as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    Err("the others did not end".into())
}

/// Starts this program again on several processes.
fn mpirun(count: usize, work: &str, errors: Stdio) -> std::result::Result<Child, String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    Command::new("mpirun")
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "-n",
            &count.to_string(),
        ])
        .arg(program)
        .env(CHILD, work)
        .env("RAYON_NUM_THREADS", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(|why| format!("cannot start mpirun: {why}"))
}

/// What a run printed, if it ended well in time.
fn outcome(mut child: Child, patience: Duration) -> std::result::Result<Vec<String>, String> {
    let output = child.stdout.take().ok_or("no output")?;
    let reader = std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(|line| line.ok()).collect()
    });
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(status) = child.try_wait().map_err(|why| why.to_string())? {
            let lines: Vec<String> = reader.join().map_err(|_| "the reader panicked")?;
            return if status.success() {
                Ok(lines)
            } else {
                Err(format!("mpirun ended with {status}"))
            };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    Err("it did not end in time".into())
}

/// What this program does when it was started again.
pub fn child(work: &str) -> ExitCode {
    launch(|processes| -> Result<()> {
        match work {
            "diffuse" => {
                let hash = diffuse(&processes, 100)?;
                if processes.rank() == 0 {
                    println!("hash {hash:016x}");
                }
                Ok(())
            }
            _ => {
                println!("ready {} {}", processes.rank(), std::process::id());
                diffuse(&processes, usize::MAX).map(|_| ())
            }
        }
    })
}

/// Diffusion over a bar of Buckets; returns a hash of all voxels by their Buckets, the same on every process.
fn diffuse(processes: &Arc<dyn Processes>, steps: usize) -> Result<u64> {
    let frame = Frame::new(DVec3::ZERO, 0.1)?;
    let partition = Arc::new(Partition::even(frame, processes.count()));
    let mut domain = GridDomain::distributed("bar", frame, processes.clone(), partition);
    domain.set_buckets(&domain.buckets_in_box(
        DVec3::splat(-2.4),
        DVec3::new(5.6, 2.4, 2.4),
        0,
    )?)?;
    let mut bar = DiscreteVolume::new("bar", &domain);
    let mut from = bar.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS)?;
    let mut to = bar.add_channel(&ChannelSpec::new("next", 0.0_f32), VoxelShape::CELLS)?;
    Accessor::new("start", &domain).run(bar.write(from), |here, heat| {
        let seed = here.bucket.coord.dot(IVec3::new(7, 13, 29));
        heat.iter_mut()
            .enumerate()
            .for_each(|(n, heat)| *heat = (n as i32 * 31 + seed * 17).rem_euclid(101) as f32);
    })?;
    for step in 0..steps {
        Accessor::new("diffuse", &domain)
            .over(bar.topology())
            .run((bar.around(from, 1), bar.write(to)), |_, (heat, next)| {
                heat::step(&heat, next, 0.1)
            })?;
        (from, to) = (to, from);
        if step % 20 == 19 {
            // The weights wander, so that Buckets change hands.
            let partition = domain
                .balance(|bucket| f64::from((bucket.coord.x + step as i32).rem_euclid(5) + 1))?;
            domain.repartition(Arc::new(partition))?;
            bar.migrate(&domain)?;
        }
    }
    let hash = Accessor::new("hash", &domain).over(bar.topology()).reduce(
        bar.own(from),
        |here, heat| {
            let place = here.bucket.coord.dot(IVec3::new(3, 5_000, 7_000_000));
            let start = 0xcbf2_9ce4_8422_2325_u64 ^ place as u64;
            heat.iter().fold(start, |hash, heat| {
                (hash ^ u64::from(heat.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
            })
        },
        // A sum does not depend on which process has which Bucket.
        u64::wrapping_add,
    )?;
    Ok(hash.unwrap_or(0))
}
