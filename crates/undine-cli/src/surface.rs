//! `undine surface`: meshes of the surfaces of points, of one file or a whole sequence.

use crate::arguments::{Surface, SurfaceMethod};
use crate::convert::jobs;
use crate::info::exit_code;
use crate::progress::Working;
use crate::{complain, memory, print, progress, render, signal};
use std::sync::atomic::Ordering;
use undine::ExitCode;
use undine::surface::{
    Anisotropy, Averaging, Carrying, Method, Recipe, SurfaceError, surface as surface_of,
};
use undine_core::MemoryBudget;
use undine_io::convert::{Job, read_points};
use undine_io::{Format, IoError, WriteOptions, write};

/// Makes meshes.
pub fn surface(arguments: &Surface) -> ExitCode {
    if let Err(code) = render::threads(arguments.threads) {
        return code;
    }
    match surfaced(arguments) {
        Ok(code) => code,
        Err(why) => {
            complain(&why);
            match &why {
                SurfaceError::Io(why) => exit_code(why),
                why if why.is_of_memory() => ExitCode::OutOfMemory,
                SurfaceError::Geometry(_) | SurfaceError::Filter(_) => ExitCode::Failed,
                SurfaceError::NoRadius => ExitCode::BadScene,
            }
        }
    }
}

fn surfaced(arguments: &Surface) -> Result<ExitCode, SurfaceError> {
    let jobs = jobs(&arguments.from, &arguments.to, arguments.frames)?;
    if let Some(job) = jobs.iter().find(|job| matches!(Format::of(&job.to), Ok(Format::Vdb))) {
        let [from, to] = [&job.from, &job.to].map(|path| path.display().to_string());
        let why =
            "a mesh has no place there; write a .ply, .obj, .stl, .glb or USD file".to_owned();
        return Err(IoError::NoConversion { from, to, why }.into());
    }
    let recipe = recipe(arguments);
    let limit = arguments.memory.or_else(|| memory::default_budget(1));
    let budget = limit.map_or_else(MemoryBudget::unlimited, MemoryBudget::new);
    let stop = signal::watch();
    let bar = if arguments.quiet { None } else { progress::bar_of_files(jobs.len()) };
    let working = Working::begin("making the mesh", arguments.quiet || bar.is_some());
    let clear = || bar.iter().for_each(|bar| bar.finish_and_clear());
    let mut faces = 0;
    for (n, job) in jobs.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            clear();
            eprintln!("stopped: {n} of {} files are written, each of them whole", jobs.len());
            return Ok(ExitCode::Interrupted);
        }
        faces += file(job, arguments, &recipe, &budget).inspect_err(|_| {
            clear();
            eprintln!("in {}:", job.from.display());
        })?;
        bar.iter().for_each(|bar| bar.inc(1));
    }
    clear();
    working.end();
    if arguments.quiet {
        return Ok(ExitCode::Done);
    }
    Ok(print(&match &jobs[..] {
        [job] => format!("{} is written: {faces} triangles\n", job.to.display()),
        jobs => format!("{}: {} files are written\n", arguments.to, jobs.len()),
    }))
}

/// Makes the mesh of one file; how many triangles it has.
fn file(
    job: &Job,
    arguments: &Surface,
    recipe: &Recipe,
    budget: &MemoryBudget,
) -> Result<usize, SurfaceError> {
    let reading = read_points(job, arguments.grid.as_deref())?;
    let mesh = surface_of(&reading.geometry.points, recipe, None, budget.clone())?;
    let mut metadata = reading.metadata;
    metadata.frame = job.frame.or(metadata.frame);
    write(&job.to, &mesh, &WriteOptions { metadata, ..WriteOptions::default() })?;
    Ok(mesh.faces.map_or(0, |faces| faces.polygons.len()))
}

fn recipe(arguments: &Surface) -> Recipe {
    let usual = Anisotropy::default();
    let search = arguments.search;
    let method = match arguments.method {
        SurfaceMethod::Spheres => Method::Spheres,
        SurfaceMethod::Ellipsoids => Method::Ellipsoids(Anisotropy {
            search: search.unwrap_or(usual.search),
            ratio: arguments.ratio.unwrap_or(usual.ratio),
            droplet_neighbours: arguments.droplet_neighbours.unwrap_or(usual.droplet_neighbours),
            droplet_scale: arguments.droplet_scale.unwrap_or(usual.droplet_scale),
            local: arguments.local.unwrap_or(usual.local),
            smoothing: arguments.smoothing.unwrap_or(usual.smoothing),
            trail: arguments.trail.unwrap_or(usual.trail),
        }),
        SurfaceMethod::Average => average(Averaging::PLAIN, search),
        SurfaceMethod::CorrectedAverage => average(Averaging::CORRECTED, search),
    };
    Recipe {
        method,
        radius: arguments.radius,
        scale: arguments.scale,
        voxel: arguments.voxel,
        smooth: arguments.smooth,
        coarsen: arguments.coarsen,
        least: arguments.least,
        bubbles: arguments.bubbles,
        carrying: if arguments.nearest { Carrying::Nearest } else { Carrying::Blended },
    }
}

fn average(usual: Averaging, search: Option<f64>) -> Method {
    Method::Average(Averaging { search: search.unwrap_or(usual.search), ..usual })
}
