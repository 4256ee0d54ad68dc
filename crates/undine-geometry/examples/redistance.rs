//! How fast and how well distances are made anew.
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Accessor, Frame, GridDomain};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Nearest, Solid};

#[derive(Debug)]
struct Ball(f64);
impl Solid for Ball {
    fn distance(&self, at: DVec3) -> f64 {
        at.length() - self.0
    }
    fn nearest(&self, _: DVec3) -> Nearest {
        unimplemented!()
    }
    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: DVec3::splat(-self.0), max: DVec3::splat(self.0) })
    }
}

fn cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.map(|t| std::fs::read_to_string(t.unwrap().path().join("schedstat")).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>() * 1e-9
}

fn main() {
    for radius in [5.3, 10.3, 20.3, 40.3, 80.4, 120.4] {
        let ball = Ball(radius);
        let domain = GridDomain::new("d", Frame::new(DVec3::ZERO, 1.0).unwrap());
        let mut set = LevelSet::of_solid("ball", &domain, &ball, Extent::NARROW).unwrap();
        let (width, frame, distance) = (set.width(), *set.domain().frame(), set.distance());
        let centre = |here: undine_core::access::Here<'_>, n: usize| {
            frame.corner(here.bucket) + DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64) + 0.5
        };
        let distort = std::env::args().nth(1).is_some();
        let volume = set.volume();
        Accessor::new("distort", set.domain()).over(volume.topology()).run(volume.write(distance), |here, d| {
            for (n, d) in d.iter_mut().enumerate() {
                let at = centre(here, n);
                if distort {
                *d = (ball.distance(at) * (2.0 + (at.x * 0.1).sin() + 0.5 * (at.y * 0.13).cos())) as f32;
                } else if d.abs() > 2.4 { *d = d.signum() * 3.0; }
            }
        }).unwrap();
        let mut best = f64::MAX;
        for n in 0..if radius > 30.0 { 40 } else { 1 } {
            let start = cpu();
            set.redistance().unwrap();
            if n > 0 || radius < 30.0 { best = best.min(cpu() - start); }
        }
        let volume = set.volume();
        let e = Accessor::new("compare", set.domain()).over(volume.topology()).reduce(volume.own(distance), |here, d| {
            let mut r = [0.0_f64; 5];
            for (n, d) in d.iter().enumerate() {
                let wanted = ball.distance(centre(here, n)).clamp(-width as f64, width as f64);
                let e = (wanted - f64::from(*d)).abs();
                if wanted.abs() < width as f64 { r[3] += 1.0; r[4] += e;}
                if wanted.abs() < 0.55 { r[0] = r[0].max(e); }
                if wanted.abs() < 1.5 { r[1] = r[1].max(e); }
                r[2] = r[2].max(e);
            }
            r
        }, |a, b| [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2]), a[3] + b[3], a[4] + b[4]]).unwrap().unwrap();
        println!("R {radius}: near {:.2e} <1.5 {:.2e} band {:.2e} mean {:.2e}; {} Buckets, stored/band {:.2}, {:.1} M band voxels/s", e[0], e[1], e[2], e[4]/e[3], set.topology().local(), set.topology().local() as f64*512.0/e[3], e[3]/best/1e6);
    }
}
