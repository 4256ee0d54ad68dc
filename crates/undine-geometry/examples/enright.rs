//! Try
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, GridDomain};
use undine_geometry::levelset::{Advection, Carrier, Extent, LevelSet};
use undine_geometry::{Nearest, Solid};

#[derive(Debug)]
struct Ball(DVec3, f64);
impl Solid for Ball {
    fn distance(&self, at: DVec3) -> f64 {
        at.distance(self.0) - self.1
    }
    fn nearest(&self, _: DVec3) -> Nearest {
        unimplemented!()
    }
    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: self.0 - self.1, max: self.0 + self.1 })
    }
}

fn cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.map(|t| std::fs::read_to_string(t.unwrap().path().join("schedstat")).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>() * 1e-9
}

fn main() {
    let arg = |n: usize, d: f64| std::env::args().nth(n).map_or(d, |a| a.parse::<f64>().unwrap());
    let (n, band, voxels) = (arg(1, 100.0), arg(2, 3.0), arg(3, 4.0));
    let ball = Ball(DVec3::splat(0.35), 0.15);
    let domain = GridDomain::new("d", Frame::new(DVec3::ZERO, 1.0 / n).unwrap());
    let mut set = LevelSet::of_solid("ball", &domain, &ball, Extent::Band(band)).unwrap();
    let exact = 4.0 / 3.0 * PI * 0.15_f64.powi(3);
    println!("volume {:e} area {:e}", set.size().unwrap().volume / exact - 1.0, set.size().unwrap().area / (4.0 * PI * 0.0225) - 1.0);
    let field = |x: DVec3, t: f64| {
        let (s, c) = ((PI * x.x).sin_cos(), 0);
        let _ = c;
        let (sx, cx) = s;
        let (sy, cy) = (PI * x.y).sin_cos();
        let (sz, cz) = (PI * x.z).sin_cos();
        let (x2, y2, z2) = (2.0 * sx * cx, 2.0 * sy * cy, 2.0 * sz * cz);
        DVec3::new(2.0 * sx * sx * y2 * z2, -x2 * sy * sy * z2, -x2 * y2 * sz * sz) * (PI * t / 3.0).cos()
    };
    let start = cpu();
    let frames = 12;
    let mut steps = 0;
    for f in 0..frames {
        let t = |f: i32| 3.0 * f as f64 / frames as f64;
        let r = set.advect(Carrier::Field(&field), t(f), t(f + 1), &Advection { voxels_per_step: voxels, ..Advection::default() }).unwrap();
        steps += r.steps;
        println!("t {:.2} steps {steps} volume {:.4} area {:.3} buckets {} cpu {:.1}", t(f + 1), r.after.volume / exact, r.after.area / (4.0 * PI * 0.0225), set.topology().local(), cpu() - start);
    }
}
