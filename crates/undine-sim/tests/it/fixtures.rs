//! A small owner of one store of every kind, with channels of every type.

use undine_core::channel::{ChannelSet, Flat, FlatColumn};
use undine_core::element::ElementVisitor;
use undine_core::glam::{DVec3, IVec3};
use undine_core::mesh::{
    AnyMesh, Body, Curves, Polygons, Segments, Strands, Surface, Tetrahedra, Wireframe,
};
use undine_core::particles::TopologicalParticles;
use undine_core::volume::{Axis, Resolution, VoxelShape};
use undine_core::{
    Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, Element, ElementType, Frame,
    GridDomain, MemoryBudget, ParticleSystem,
};
use undine_sim::registry::{Store, StoreMut, Stores, xxh64};

/// One store of every kind.
pub struct Zoo {
    pub domain: GridDomain,
    pub spray: ParticleSystem,
    pub rods: TopologicalParticles,
    pub air: DiscreteVolume,
    pub meshes: Vec<Box<AnyMesh>>,
    pub springs: ChannelSet<Flat>,
    pub spring_count: usize,
}

impl Stores for Zoo {
    fn each(&self, visit: &mut dyn FnMut(Store<'_>)) {
        visit(Store::Domain(&self.domain));
        visit(Store::Particles(&self.spray));
        visit(Store::Topological(&self.rods));
        visit(Store::Volume(&self.air));
        self.meshes.iter().for_each(|mesh| visit(Store::Mesh(mesh)));
        visit(Store::Flat(&self.springs, self.spring_count));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(StoreMut<'_>)) {
        visit(StoreMut::Domain(&mut self.domain));
        visit(StoreMut::Particles(&mut self.spray, &self.domain));
        visit(StoreMut::Topological(&mut self.rods));
        visit(StoreMut::Volume(&mut self.air, &self.domain));
        self.meshes.iter_mut().for_each(|mesh| visit(StoreMut::Mesh(mesh)));
        visit(StoreMut::Flat(&mut self.springs, &mut self.spring_count));
    }
}

/// Numbers that look random and are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        xxh64(&self.0.to_le_bytes(), 7)
    }

    /// In 0 .. 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn point(&mut self, reach: f64) -> DVec3 {
        DVec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5) * (2.0 * reach)
    }
}

struct AddEach<'a>(&'a mut Zoo);

impl ElementVisitor for AddEach<'_> {
    type Output = ();
    fn visit<T: Element>(self) {
        let zoo = self.0;
        // A default that is not all zeros.
        let mut default = T::zeroed();
        bytemuck::bytes_of_mut(&mut default)[0] = 3;
        let spec = ChannelSpec::new(format!("kept {}", T::TYPE), default).unit("m/s");
        let gone = ChannelSpec::new(format!("transient {}", T::TYPE), default).transient();
        for spec in [&spec, &gone] {
            zoo.spray.add_channel(spec).unwrap();
            zoo.rods.add_channel(spec).unwrap();
            zoo.air.add_channel(spec, VoxelShape::CELLS.with_resolution(Resolution::R2)).unwrap();
            zoo.springs.add(spec, FlatColumn::new(spec, zoo.spring_count)).unwrap();
        }
        let kind = ElementType::ALL.iter().position(|&element| element == T::TYPE).unwrap();
        let mesh = kind % zoo.meshes.len();
        for &class in zoo.meshes[mesh].kind().classes() {
            zoo.meshes[mesh].add_channel(class, &spec).unwrap();
            zoo.meshes[mesh].add_channel(class, &gone).unwrap();
        }
    }
}

fn named_meshes(empty: bool) -> Vec<Box<AnyMesh>> {
    let corners = || {
        let all = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
        if empty { Vec::new() } else { all.to_vec() }
    };
    let unless_empty = |values: Vec<u32>| if empty { Vec::new() } else { values };
    let strands = match empty {
        true => Strands::open(Vec::new()).unwrap(),
        false => Strands::new(vec![0, 2, 5], vec![false, true]).unwrap(),
    };
    let pairs = unless_empty(vec![0, 1, 3, 2]).as_chunks().0.to_vec();
    let counts = unless_empty(vec![3, 4]);
    let faces = Polygons::from_counts(&counts, unless_empty(vec![0, 1, 2, 1, 2, 3, 4])).unwrap();
    let cells = unless_empty(vec![0, 1, 2, 3, 1, 2, 3, 4]).as_chunks().0.to_vec();
    vec![
        Box::new(Curves::new("hair", corners(), strands).unwrap()),
        Box::new(Wireframe::new("wire", corners(), Segments::new(pairs)).unwrap()),
        Box::new(Surface::new("cloth", corners(), faces).unwrap()),
        Box::new(Body::new("jelly", corners(), Tetrahedra::new(cells)).unwrap()),
    ]
}

/// All stores with their channels, and nothing in them.
pub fn empty_zoo() -> Zoo {
    empty_zoo_within(&MemoryBudget::unlimited())
}

pub fn empty_zoo_within(budget: &MemoryBudget) -> Zoo {
    let frame = Frame::new(DVec3::new(10.0, 0.1, -3.0), 0.05).unwrap();
    let domain = GridDomain::new("space", frame).with_budget(budget.clone());
    let mut zoo = Zoo {
        spray: ParticleSystem::new("spray", &domain).unwrap(),
        rods: TopologicalParticles::new("rods", &domain).unwrap(),
        air: DiscreteVolume::new("air", &domain),
        meshes: named_meshes(true),
        springs: ChannelSet::new("springs"),
        spring_count: 0,
        domain,
    };
    for element in ElementType::ALL {
        element.visit(AddEach(&mut zoo));
    }
    zoo.air.add_mask("inside", Resolution::R4).unwrap();
    zoo.air
        .add_channel(&ChannelSpec::new("pressure", 1.5_f32), VoxelShape::faces(Axis::Y))
        .unwrap();
    zoo
}

/// The same with particles, voxels and meshes, and every bit of every channel at random, but finite.
pub fn full_zoo(seed: u64, particles: usize) -> Zoo {
    let mut zoo = empty_zoo();
    let mut random = Random(seed << 32);
    let origin = zoo.domain.frame().origin();
    let some = |random: &mut Random, n: usize| -> Vec<DVec3> {
        (0..n).map(|_| origin + random.point(1.0)).collect()
    };
    let buckets = (0..4).map(|n| Bucket::at(n / 3, IVec3::new(i32::from(n), -1, 2)));
    zoo.domain.set_buckets(&BucketSet::from_buckets(buckets).unwrap()).unwrap();
    zoo.air.follow(zoo.domain.topology()).unwrap();
    let points = some(&mut random, particles);
    let batch = zoo.spray.batch(&points).unwrap();
    zoo.spray.append(&zoo.domain, batch).unwrap();
    zoo.rods.append(&zoo.domain, &some(&mut random, particles / 2 + 1)).unwrap();
    zoo.rods.keep(&(0..particles as u32 / 2).rev().collect::<Vec<_>>()).unwrap();
    for (mesh, full) in zoo.meshes.iter_mut().zip(named_meshes(false)) {
        mesh.reset(full.vertex_count(), full.connectivity().tables().map(|t| t.into_owned()))
            .unwrap();
    }
    zoo.spring_count = particles / 3;
    for (_, column) in zoo.springs.columns_mut() {
        column.resize(zoo.spring_count);
    }
    fill(&mut zoo, &mut random);
    // A life before: some have gone, and some have moved.
    live(&mut zoo);
    zoo
}

/// What an ordinary step does to particles: move, delete, append.
pub fn live(zoo: &mut Zoo) {
    let spray = &mut zoo.spray;
    Accessor::new("move", &zoo.domain)
        .over(spray.topology())
        .run((spray.own(spray.id()), spray.write(spray.position())), |_, (ids, positions)| {
            for (id, position) in ids.iter().zip(positions) {
                *position += Random(id << 8).point(0.2).as_vec3();
            }
        })
        .unwrap();
    spray.rebucketize(&zoo.domain).unwrap();
    let id = spray.id();
    spray
        .delete_where(&zoo.domain, id, |id| xxh64(&id.to_le_bytes(), 1).is_multiple_of(5))
        .unwrap();
    let origin = zoo.domain.frame().origin();
    let more: Vec<DVec3> = (0..7).map(|n| origin + Random(n).point(1.0)).collect();
    let batch = spray.batch(&more).unwrap();
    spray.append(&zoo.domain, batch).unwrap();
    zoo.rods.append(&zoo.domain, &more).unwrap();
    zoo.rods.locate(&zoo.domain).unwrap();
}

fn fill(zoo: &mut Zoo, random: &mut Random) {
    let mut fill = |element: ElementType, bytes: &mut [u8]| {
        for byte in bytes.iter_mut() {
            *byte = random.next() as u8;
        }
        // Clear a bit of every exponent, so that values are finite.
        let scalar =
            if element.name().starts_with('d') || element == ElementType::F64 { 8 } else { 4 };
        if !element.is_integer() {
            bytes.chunks_exact_mut(scalar).for_each(|value| value[scalar - 1] &= 0xBF);
        }
    };
    let locals = 0..zoo.spray.topology().local() as u32;
    for (info, column) in zoo.spray.columns_mut().filter(|(info, _)| info.name.contains(' ')) {
        locals.clone().for_each(|slot| fill(info.element, column.chunk_bytes_mut(slot)));
    }
    for (info, column) in zoo.rods.columns_mut().filter(|(info, _)| info.name.contains(' ')) {
        fill(info.element, column.bytes_mut());
    }
    let locals = 0..zoo.air.topology().local() as u32;
    for (info, column) in zoo.air.columns_mut() {
        locals.clone().for_each(|slot| fill(info.element, column.chunk_bytes_mut(slot)));
    }
    for mesh in &mut zoo.meshes {
        for &class in mesh.kind().classes() {
            for (info, column) in mesh.columns_mut(class).unwrap() {
                fill(info.element, column.bytes_mut());
            }
        }
    }
    for (info, column) in zoo.springs.columns_mut() {
        fill(info.element, column.bytes_mut());
    }
}

/// Runs `f` on this many threads.
pub fn on_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}
