//! Frames in every format, and inputs from every format: what goes out comes back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use undine::cache::FrameId;
use undine::frames::{StageFile, each_file};
use undine::{Options, behaviors, catalogue, declarations, prepare, run};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{ChannelSpec, DiscreteVolume};
use undine_io::{FileMetadata, Names, Points, UpAxis, usd, vdb::points_of_grid};
use undine_scene::graph::{Context, Graph};
use undine_scene::{Catalogue, Scene};
use undine_schema::{Declaration, Kind};
use undine_sim::{
    BehaviorKind, Budget, Ingest, Object, ObjectId, Offers, Simulation, StoreId, Tasks, World,
};
use undine_vdb::write::{encode_grid, write_file};
use undine_vdb::{Class, Compression, Content, File, Grid, LeafMask, Metadata, Transform, Tree};

/// Drops that are born as they fall, so that every frame has others.
const FOUNTAIN: &str = r#"
setup "fountain" frames=6 UP
input "nozzle" {
    points at="PLACE"
}
particles "drops" radius="1 cm"
emit input="nozzle" rate="100 Hz" velocity="1 2 3 m/s"
gravity
output dir="cache" OUTPUT
render enabled=#false
"#;

fn fountain(place: &str, up: &str, output: &str) -> String {
    FOUNTAIN.replace("PLACE", place).replace("UP", up).replace("OUTPUT", output)
}

/// Runs a scene in a folder of its own.
fn made(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("scene.kdl");
    std::fs::write(&file, text).unwrap();
    let scene = Scene::load(&file, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    run(&scene, &Options::default(), &mut ()).unwrap();
    folder
}

/// Positions and velocities by id, as a file of a frame has them.
fn by_id(points: &Points) -> BTreeMap<u64, (DVec3, DVec3)> {
    let ids = points.channels["id"].ids().expect("ids");
    let velocities = points.channels["v"].vectors().expect("velocities");
    let each = points.positions.iter().zip(velocities.iter());
    ids.iter().copied().zip(each.map(|(p, v)| (*p, *v))).collect()
}

fn read(file: &Path) -> Points {
    if file.extension().is_some_and(|end| end == "vdb") {
        let mut file = File::open(file).unwrap();
        let up = FileMetadata::of_vdb(file.metadata()).up;
        return points_of_grid(&file.grid(0).unwrap(), &Names::default(), up).unwrap();
    }
    undine_io::read(file).unwrap().points
}

fn assert_alike(one: &Points, other: &Points, turn: impl Fn(DVec3) -> DVec3, what: &str) {
    let (one, other) = (by_id(one), by_id(other));
    assert!(one.len() > 10 && one.keys().eq(other.keys()), "{what}: {} {}", one.len(), other.len());
    for (id, (position, velocity)) in &one {
        let (p, v) = other[id];
        assert!((turn(p) - *position).length() < 1e-5, "{what}: {id} at {p}, not {position}");
        assert!((turn(v) - *velocity).length() < 1e-5, "{what}: {id} with {v}, not {velocity}");
    }
}

#[test]
fn every_format_has_the_same_points() {
    let exact = made(&fountain("0.5 1 0 m", "", "format=\"ply\""));
    let exact = read(&exact.path().join("cache/drops.0005.ply"));
    for (format, ending) in [("usd", "usdc"), ("vdb", "vdb")] {
        let cache = made(&fountain("0.5 1 0 m", "", &format!("format=\"{format}\"")));
        let found = read(&cache.path().join(format!("cache/drops.0005.{ending}")));
        assert_alike(&found, &exact, |vector| vector, format);
    }
}

/// A file says its axis, so that readers that turn to y up find the same wherever the scene and the file have it.
#[test]
fn files_have_the_axis_up_that_they_say() {
    let as_simulated = |up| {
        let cache = made(&fountain("0.5 1 0.25 m", up, "format=\"ply\""));
        read(&cache.path().join("cache/drops.0005.ply"))
    };
    let (of_y, of_z) = (as_simulated(""), as_simulated("up=\"z\""));
    let turned = |vector| UpAxis::Z.from_file(vector);
    for (format, ending) in [("usd", "usdc"), ("vdb", "vdb")] {
        let file = format!("cache/drops.0005.{ending}");
        let output = |up: &str| format!("format=\"{format}\" {up}");
        // A scene with z up, in files with z and with y up: what is read is y up, and so turned.
        for up in ["", "up=\"y\"", "up=\"z\""] {
            let cache = made(&fountain("0.5 1 0.25 m", "up=\"z\"", &output(up)));
            assert_alike(&read(&cache.path().join(&file)), &of_z, turned, &output(up));
        }
        // A scene with y up, in files with z up: turned there and back.
        let cache = made(&fountain("0.5 1 0.25 m", "", &output("up=\"z\"")));
        assert_alike(&read(&cache.path().join(&file)), &of_y, |vector| vector, format);
    }
    let cache = made(&fountain("0.5 1 0.25 m", "", "format=\"ply\" up=\"z\""));
    let found = read(&cache.path().join("cache/drops.0005.ply"));
    assert_alike(&found, &of_y, |vector| UpAxis::Z.to_file(vector), "ply");
}

#[test]
fn the_stage_shows_every_frame_as_its_file_does() {
    for place in ["0 1 0 m", "10 0.001 -20 km"] {
        let cache = made(&fountain(place, "", "every=2"));
        let stage = cache.path().join("cache/fountain.usda");
        assert_eq!(usd::time_samples(&stage).unwrap(), [1.0, 3.0, 5.0]);
        for frame in [3, 5] {
            let shown = usd::read(&stage, Some(f64::from(frame)), None).unwrap().points;
            let file = read(&cache.path().join(format!("cache/drops.{frame:04}.usdc")));
            assert_eq!(by_id(&shown), by_id(&file), "{place}, frame {frame}");
        }
        let exact = made(&fountain(place, "", "format=\"ply\""));
        let exact = read(&exact.path().join("cache/drops.0005.ply"));
        let shown = usd::read(&stage, Some(5.0), None).unwrap().points;
        assert_alike(&shown, &exact, |vector| vector, place);
    }
}

#[test]
fn new_names_are_those_of_the_files() {
    let cache = made(&fountain("0 1 0 m", "", "format=\"ply\" rename=\"pscale=size age=years\""));
    let found = read(&cache.path().join("cache/drops.0005.ply"));
    let names: Vec<&str> = found.channels.keys().map(String::as_str).collect();
    assert_eq!(names, ["id", "mass", "size", "v", "years"]);
}

/// The signed distance to a sphere, in a band of three voxels, as a file.
fn sphere(file: &Path, voxel: f64, centre: DVec3, radius: f64) {
    let background = (3.0 * voxel) as f32;
    let mut tree = Tree::new(background);
    let around = ((radius / voxel) as i32 + 4).div_euclid(8) + 1;
    for x in -around..around {
        for y in -around..around {
            for z in -around..around {
                let origin = [x, y, z].map(|c| 8 * c);
                let mut values = [0.0_f32; 512];
                for (voxel_number, value) in values.iter_mut().enumerate() {
                    let at = [voxel_number >> 6, voxel_number >> 3 & 7, voxel_number & 7];
                    let at =
                        DVec3::from_array([0, 1, 2].map(|c| f64::from(origin[c] + at[c] as i32)));
                    *value = ((voxel * at).length() - radius) as f32;
                }
                values.iter_mut().for_each(|v| *v = v.clamp(-background, background));
                let mask = LeafMask::of(|voxel| values[voxel].abs() < background);
                if mask != LeafMask::NONE {
                    tree.leaves.push(origin, mask, &values);
                }
            }
        }
    }
    let grid = Grid {
        name: "surface".to_owned(),
        class: Class::LevelSet,
        transform: Transform::uniform(voxel, centre.to_array()),
        saved_as_half: false,
        metadata: Metadata::new(),
        content: Content::Float(tree),
    };
    let encoded = encode_grid(&grid, Compression::default()).unwrap();
    write_file(file, &Metadata::new(), &[encoded], false).unwrap();
}

#[test]
fn a_level_set_of_a_file_is_a_solid() {
    let folder = TempDir::new().unwrap();
    let centre = DVec3::new(0.5, 1.0, -0.25);
    sphere(&folder.path().join("ball.vdb"), 0.05, centre, 0.5);
    // The file does not say which axis is up: it is as in the scene, unless the input says otherwise.
    let cases = [("", "", false), ("up=\"z\"", "", false), ("up=\"z\"", "up=\"y\"", true)];
    for (setup, input, turn) in cases {
        let text =
            format!("setup \"a\" frames=2 {setup}\ninput \"ball\" file=\"ball.vdb\" {input}\n");
        let scene =
            Scene::parse(&folder.path().join("scene.kdl"), &text, &catalogue(), &[]).unwrap();
        let context = Context::of(&scene, MemoryBudget::unlimited());
        let graph = Graph::new(scene.inputs.clone(), context).unwrap();
        let solid = graph.evaluate("ball", 0.0).unwrap().solid(0.0).unwrap();
        let middle = if turn { UpAxis::Z.to_file(centre) } else { centre };
        for (offset, wanted) in [(0.55, 0.05), (0.45, -0.05), (0.5, 0.0)] {
            let found = solid.distance(middle + DVec3::new(0.0, offset, 0.0));
            assert!((found - wanted).abs() < 2e-3, "{found} is not {wanted}: {setup} {input}");
        }
        // Deep inside there are no voxels, and far outside neither.
        assert!(solid.distance(middle) < -0.1);
        assert!(solid.distance(middle + DVec3::splat(3.0)) > 0.1);
    }
}

#[test]
fn a_scene_that_moves_is_an_input_at_any_time() {
    let folder = TempDir::new().unwrap();
    let moving = "#usda 1.0\n(\n    metersPerUnit = 0.01\n    upAxis = \"Z\"\n)\ndef Mesh \"flag\"\n{\n    \
        int[] faceVertexCounts = [3]\n    int[] faceVertexIndices = [0, 1, 2]\n    \
        point3f[] points = [(0, 0, 0), (100, 0, 0), (0, 100, 0)]\n    \
        double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 3: (0, 0, 200) }\n    \
        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n}\n";
    std::fs::write(folder.path().join("flag.usda"), moving).unwrap();
    let text = "setup \"a\" frames=4 fps=10\ninput \"flag\" {\n    animate file=\"flag.usda\"\n}\n\
        input \"now\" file=\"flag.usda\" part=\"/flag\"\n";
    let scene = Scene::parse(&folder.path().join("scene.kdl"), text, &catalogue(), &[]).unwrap();
    let context = Context::of(&scene, MemoryBudget::unlimited());
    let graph = Graph::new(scene.inputs.clone(), context).unwrap();
    // Half way between time codes 1 and 2: a quarter of the way up, which is y here; 2 m in two frames are 10 m/s.
    let data = graph.evaluate("flag", 0.05).unwrap();
    let cloud = data.cloud().unwrap();
    assert!(
        (cloud.positions[0] - DVec3::new(0.0, 0.5, 0.0)).length() < 1e-6,
        "{}",
        cloud.positions[0]
    );
    assert!(
        (cloud.positions[2] - DVec3::new(0.0, 0.5, -1.0)).length() < 1e-6,
        "{}",
        cloud.positions[2]
    );
    assert!((cloud.vectors["v"][0] - DVec3::new(0.0, 10.0, 0.0)).length() < 1e-4);
    let now = graph.evaluate("now", 0.1).unwrap();
    assert!((now.cloud().unwrap().positions[0].y - 1.0).abs() < 1e-6);
}

static SMOKE: Declaration = Declaration {
    name: "test-smoke",
    kind: Kind::Object,
    doc: "A puff with a wind through it",
    about: "",
    parameters: &[],
    example: "",
};

/// A volume, as no phenomenon has one yet.
struct Smoke {
    id: ObjectId,
    volume: StoreId,
}

impl Object for Smoke {
    fn create(ingest: &mut Ingest<'_>) -> undine_sim::Result<Vec<Self>> {
        let domain_id = ingest.world.domain(0.1)?;
        let domain = &mut ingest.world.domains[domain_id];
        let buckets = domain.buckets_in_box(DVec3::ZERO, DVec3::splat(1.5), 0)?;
        domain.add(&buckets)?;
        let mut volume = DiscreteVolume::new(ingest.path, domain);
        let spec = ChannelSpec::new("density", 0.0_f32);
        let density = volume.add_channel(&spec, VoxelShape::CELLS)?;
        volume.column_mut(density)?.chunk_mut(0)[..100].fill(0.5);
        let velocity = volume.add_mac("velocity", "m/s", Resolution::R8)?;
        for (axis, face) in velocity.faces.into_iter().enumerate() {
            volume.column_mut(face)?.fill(axis as f32 + 1.0);
        }
        let volume = ingest.world.volumes.add(volume);
        let id = ingest.offer(domain_id, BTreeMap::new(), Offers::default());
        Ok(vec![Self { id, volume: volume.into() }])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}

    fn budget(&self, _: &World) -> undine_sim::Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.volume)]
    }
}

#[test]
fn volumes_are_grids_of_customary_names_and_classes() {
    let kinds = [behaviors(), vec![BehaviorKind::object::<Smoke>(&SMOKE)]].concat();
    let words = Catalogue::new(declarations().into_iter().chain([&SMOKE]));
    for (output, half, up) in
        [("", false, UpAxis::Y), ("output half=#true up=\"z\"", true, UpAxis::Z)]
    {
        let text = format!("setup \"a\" frames=2\ntest-smoke \"puff\"\n{output}\n");
        let scene = Scene::parse(Path::new("scene.kdl"), &text, &words, &[]).unwrap();
        let context = Context::of(&scene, MemoryBudget::unlimited());
        let graph = Arc::new(Graph::new(scene.inputs.clone(), context).unwrap());
        let timeline = prepare::timeline(&scene);
        let budget = MemoryBudget::unlimited();
        let simulation = Simulation::new(&scene.root, &kinds, timeline, graph, budget).unwrap();
        let mut bytes = Vec::new();
        let mut stage = StageFile::default();
        each_file(&scene, &simulation, FrameId::whole(2), &mut stage, |name, content| {
            assert_eq!(name, "puff.vdb");
            content.write(&mut bytes)
        })
        .unwrap();
        let mut file = File::new(std::io::Cursor::new(bytes)).unwrap();
        let metadata = FileMetadata::of_vdb(file.metadata());
        assert_eq!((metadata.fps, metadata.frame, metadata.up), (Some(24.0), Some(2), up));
        assert!((metadata.time.unwrap() - 1.0 / 24.0).abs() < 1e-12);
        let heads = file.grids().to_vec();
        let names: Vec<&str> = heads.iter().map(|head| head.name.as_str()).collect();
        assert_eq!(names, ["density", "vel"]);
        assert!(heads.iter().all(|head| head.saved_as_half == half));
        assert_eq!(heads[0].class, Class::FogVolume);
        assert_eq!(heads[0].active_voxels, Some(100));
        let staggered = if up == UpAxis::Y { Class::Staggered } else { Class::Unknown };
        assert_eq!(heads[1].class, staggered);
        let Content::Vec3s(velocity) = file.grid(1).unwrap().content else { panic!("no vectors") };
        let wanted = up.to_file(DVec3::new(1.0, 2.0, 3.0)).as_vec3().to_array();
        // The faces at the end of the Buckets have no further ones to take a mean with.
        assert!(velocity.leaves.values.contains(&wanted), "{wanted:?}");
    }
}

#[test]
fn outputs_that_cannot_be_are_refused() {
    let base = "setup \"a\" frames=2\ninput \"n\" {\n    points at=\"0 0 0 m\"\n}\nparticles \"one\" input=\"n\"\nparticles \"two\" input=\"n\"\n";
    for (output, word) in [
        ("output of=\"one\"\noutput of=\"two\" up=\"z\"", "same `up`"),
        ("output rename=\"v=mass\"", "another channel"),
        ("output rename=\"nosuch=x\"", "there are age, id, mass, pscale, v"),
        ("output channels=\"v nosuch\"", "there are age, id, mass, pscale, v"),
        ("output rename=\"v\"", "new name"),
    ] {
        let text = format!("{base}{output}\n");
        let shown = match Scene::parse(Path::new("scene.kdl"), &text, &catalogue(), &[]) {
            Err(report) => report.render(200),
            Ok(scene) => match prepare::simulation(&scene, MemoryBudget::unlimited()) {
                Err(undine::RunError::Scene(report)) => report.render(200),
                Err(other) => other.to_string(),
                Ok(_) => panic!("{output} is not refused"),
            },
        };
        assert!(shown.contains(word), "{output}: {shown}");
    }
}

/// Whatever an output says decides what the files hold: a cache of another one is not gone on with.
#[test]
fn another_output_is_another_cache() {
    let parsed = |output: &str| {
        let text = fountain("0 1 0 m", "", output);
        Scene::parse(Path::new("scene.kdl"), &text, &catalogue(), &[]).unwrap()
    };
    let print = |output: &str| prepare::record(&parsed(output)).unwrap().fingerprint();
    let plain = print("");
    for output in [
        "format=\"ply\"",
        "up=\"z\"",
        "rename=\"v=w\"",
        "half=#true",
        "codec=\"zip\"",
        "levels=\"finest\"",
    ] {
        assert_ne!(print(output), plain, "{output}");
    }
}

#[test]
fn a_file_that_says_its_unit_needs_no_other() {
    let folder = TempDir::new().unwrap();
    let header = "ply\nformat ascii 1.0\ncomment metres_per_unit 0.01\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    std::fs::write(folder.path().join("far.ply"), format!("{header}100 0 0\n")).unwrap();
    let loaded = |unit: &str| {
        let text = format!("setup \"a\" frames=2\ninput \"far\" file=\"far.ply\" {unit}\n");
        let file = folder.path().join("scene.kdl");
        let scene = Scene::parse(&file, &text, &catalogue(), &[]).unwrap();
        let context = Context::of(&scene, MemoryBudget::unlimited());
        Graph::new(scene.inputs.clone(), context).unwrap().evaluate("far", 0.0)
    };
    let found = loaded("").unwrap().cloud().unwrap().positions[0];
    assert!((found - DVec3::X).length() < 1e-9, "{found}");
    let refused = loaded("unit=\"cm\"").unwrap_err().to_string();
    assert!(refused.contains("says its own"), "{refused}");
}
