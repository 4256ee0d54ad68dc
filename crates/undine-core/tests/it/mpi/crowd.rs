//! A Particle System with channels of many types, that can be moved by steps which depend on ids alone: so it does the
//! same on any number of processes.

use super::scene::{Contents, particles, random, random_point, share};
use undine_core::{
    Accessor, ChannelSpec, Combine, GridDomain, Handle, ParticleSystem, Result,
    glam::{DMat4, DVec3, IVec3, Mat3, Quat, Vec3},
};

pub struct Crowd {
    pub system: ParticleSystem,
    pub velocity: Handle<Vec3>,
    pub mass: Handle<f32>,
}

impl Crowd {
    pub fn new(domain: &GridDomain) -> Result<Self> {
        let mut system = ParticleSystem::new("crowd", domain)?;
        let velocity =
            system.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO).combine(Combine::Mean))?;
        let mass = system.add_channel(&ChannelSpec::new("mass", 1.0_f32).combine(Combine::Sum))?;
        system.add_channel(&ChannelSpec::new("frame", Mat3::IDENTITY))?;
        system.add_channel(&ChannelSpec::new("energy", 0.5_f64))?;
        system.add_channel(&ChannelSpec::new("cell", IVec3::ZERO))?;
        system.add_channel(&ChannelSpec::new("turn", Quat::IDENTITY))?;
        system.add_channel(&ChannelSpec::new("pose", DMat4::IDENTITY))?;
        Ok(Self { system, velocity, mass })
    }

    /// Appends `count` particles at random places. Each process brings its share, wherever the places are.
    pub fn append(
        &mut self,
        domain: &GridDomain,
        seed: u64,
        count: u64,
        half: f64,
    ) -> Result<std::ops::Range<u64>> {
        let all: Vec<u64> = (0..count).collect();
        let mine = share(&all, &**domain.processes());
        let places: Vec<DVec3> = mine.iter().map(|&n| random_point(seed, n, half)).collect();
        let mut batch = self.system.batch(&places)?;
        let float = |n: &u64| random(seed + 77, *n) as f32;
        let list = |f: &dyn Fn(&u64) -> f32| mine.iter().map(f).collect::<Vec<_>>();
        batch.set("mass", &list(&|n| (n % 7 + 1) as f32))?;
        batch.set("velocity", &mine.iter().map(|n| Vec3::splat(float(n))).collect::<Vec<_>>())?;
        batch.set("energy", &mine.iter().map(|n| f64::from(float(n))).collect::<Vec<_>>())?;
        batch.set("cell", &mine.iter().map(|n| IVec3::splat(*n as i32)).collect::<Vec<_>>())?;
        let frames: Vec<_> = mine.iter().map(|n| Mat3::from_rotation_x(float(n))).collect();
        batch.set("frame", &frames)?;
        let turns: Vec<_> = mine.iter().map(|n| Quat::from_rotation_y(float(n))).collect();
        batch.set("turn", &turns)?;
        let poses: Vec<_> =
            mine.iter().map(|n| DMat4::from_rotation_z(f64::from(float(n)))).collect();
        batch.set("pose", &poses)?;
        self.system.append(domain, batch)
    }

    /// Moves each particle by a random step: often within its Bucket or to the next, sometimes far.
    pub fn step(&self, domain: &GridDomain, step: u64) -> Result<()> {
        let access = (self.system.own(self.system.id()), self.system.write(self.system.position()));
        self.accessor(domain).run(access, |_, (ids, positions)| {
            for (id, position) in ids.iter().zip(positions) {
                let reach = if random(step + 1000, *id) < 0.05 { 6.0 } else { 0.4 };
                *position += random_point(step, *id, reach).as_vec3();
            }
        })
    }

    pub fn accessor(&self, domain: &GridDomain) -> Accessor {
        Accessor::new("crowd", domain).over(self.system.topology())
    }

    /// Everything on all processes. Collective.
    pub fn contents(&self, domain: &GridDomain) -> Result<Contents> {
        particles(&**domain.processes(), &self.system)
    }
}
