//! What differs from strand to strand, and along a strand.

use super::scene::{at_rest, clamped, curves, elastic, gravity, rod, with_numbers};
use crate::scene::{frames, vectors};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::ChannelSpec;
use undine_core::glam::DVec3;
use undine_core::mesh::{Curves, ElementClass, Strands};
use undine_schema::setup::Behavior;
use undine_sim::input::{Data, Geometry};

/// The properties of three rods, by the parameters and channels that name them.
const PROPERTIES: [(&str, &str, [f64; 3]); 5] = [
    ("radius", "pscale", [1e-2, 1.5e-2, 0.7e-2]),
    ("flatness", "flatness", [1.0, 0.6, 1.3]),
    ("youngs", "youngs", [2e8, 1e8, 6e8]),
    ("shear", "shear", [8e7, 2e7, 3e8]),
    ("density", "density", [1000.0, 600.0, 1900.0]),
];

/// Rods that bend out of the plane in which they hang, beside each other.
fn strands() -> Vec<Vec<DVec3>> {
    let strand = |n: usize| {
        let bent = |x: DVec3| x + DVec3::new(0.0, 0.0, 0.2 * x.x * x.x + n as f64);
        clamped(10).into_iter().map(bent).collect()
    };
    (0..3).map(strand).collect()
}

fn settled(rod: Behavior, data: Data) -> Vec<DVec3> {
    let mut simulation = at_rest(&elastic(rod.set("roots", "clamped")).with(gravity()), data);
    frames(&mut simulation, 16);
    vectors(&simulation, "rod", "position")
}

/// In one Object each strand bends as it would in an Object of its own, whether what it is made of is said of its vertices, of the
/// strand, or of the Object.
#[test]
fn strands_of_one_object_may_be_of_anything() {
    let strands = strands();
    let count = strands[0].len();
    let alone: Vec<Vec<DVec3>> = (0..3)
        .map(|n| {
            let own = PROPERTIES.iter().fold(rod(), |rod, (name, _, of)| rod.set(name, of[n]));
            settled(own, curves(&strands[n..=n]))
        })
        .collect();
    let by_vertex = PROPERTIES.iter().fold(curves(&strands), |data, (_, channel, of)| {
        let values = of.iter().flat_map(|value| vec![*value; count]).collect();
        with_numbers(&data, channel, values)
    });
    let offsets = (0..=3).map(|n| n * count as u32).collect();
    let strands_of = Strands::open(offsets).unwrap();
    let mut by_strand = Curves::new("curves", strands.concat(), strands_of).unwrap();
    for (_, channel, of) in PROPERTIES {
        let spec = ChannelSpec::new(channel, 0.0_f64);
        by_strand.add_channel_with(ElementClass::Curve, &spec, of.to_vec()).unwrap();
    }
    let by_strand = Data::new(Geometry::Curves(Arc::new(by_strand)));
    let drop = |places: &[DVec3]| places[0].y - places[places.len() - 1].y;
    let drops: Vec<f64> = alone.iter().map(|places| drop(places)).collect();
    assert!(drops.iter().all(|drop| *drop > 0.05), "{drops:?}");
    assert!((drops[0] - drops[1]).abs() > 0.02 && (drops[1] - drops[2]).abs() > 0.02, "{drops:?}");
    for (what, data) in [("vertices", by_vertex), ("strands", by_strand)] {
        let together = settled(rod(), data);
        for (n, (found, wanted)) in together.iter().zip(alone.concat()).enumerate() {
            let off = found.distance(wanted);
            assert!(off < 1e-12, "vertex {n}, said of {what}: {off} m");
        }
    }
}

/// One value for an Object as a whole holds where nothing more is said.
#[test]
fn what_is_said_of_a_vertex_comes_before_what_is_said_of_all() {
    let strands = strands();
    let thick = with_numbers(&curves(&strands), "pscale", vec![1.2e-2; 3 * strands[0].len()]);
    let mut data = thick.clone();
    data.attributes = BTreeMap::from([
        ("pscale".to_owned(), undine_schema::Value::Number(5e-3)),
        ("youngs".to_owned(), undine_schema::Value::Number(3e8)),
    ]);
    let found = settled(rod().set("youngs", 1e9), data);
    let wanted = settled(rod().set("youngs", 3e8), thick);
    assert_eq!(found, wanted);
}

/// A cone under its own weight, against w″ = M/(EI) with the moment and the second moment of area of where it is. Under a load P
/// at the tip alone the drop is PL³/(3EI₀) by the radius at the root over that at the tip, which tells that the quadrature is right.
#[test]
fn a_tapered_cantilever_bends_as_its_cross_sections_say() {
    let (edges, root, tip) = (48, 2e-2, 0.6e-2);
    let (density, youngs) = (1000.0, 8e8);
    let radius = |x: f64| root + (tip - root) * x.clamp(0.0, 1.0);
    let stiffness = |x: f64| youngs * 0.25 * PI * radius(x).powi(4);
    // The drop of the tip is the integral of M(x)(1 − x)/(EI); Simpson's rule is exact to a digit that does not matter.
    let integral = |f: &dyn Fn(f64) -> f64| {
        let n = 400;
        let h = 1.0 / f64::from(n);
        let weight = |k: i32| match k {
            0 => 1.0,
            k if k == n => 1.0,
            k => f64::from(2 + 2 * (k % 2)),
        };
        (0..=n).map(|k| weight(k) * f(f64::from(k) * h)).sum::<f64>() * h / 3.0
    };
    let loaded = integral(&|x| (1.0 - x) * (1.0 - x) / stiffness(x));
    let wanted = root / (3.0 * stiffness(0.0) * tip);
    assert!((loaded / wanted - 1.0).abs() < 1e-6, "{loaded} {wanted}");

    let weight = |x: f64| 9.80665 * density * PI * radius(x).powi(2);
    // Of what lies beyond x: ∫ w(t)(t − x) dt.
    let moment = |x: f64| {
        (1.0 - x)
            * integral(&|s| {
                let t = x + (1.0 - x) * s;
                weight(t) * (t - x)
            })
    };
    let wanted = integral(&|x| moment(x) * (1.0 - x) / stiffness(x));
    assert!((0.002..0.02).contains(&wanted), "{wanted}");

    let points = clamped(edges);
    let radii: Vec<f64> = points.iter().map(|at| radius(at.x)).collect();
    let data = with_numbers(&curves(&[points]), "pscale", radii);
    let places = settled(rod().set("density", density).set("youngs", youngs), data);
    let found = -places[places.len() - 1].y;
    assert!((found / wanted - 1.0).abs() < 2e-3, "{found}, wanted {wanted}");
}

/// Parameters of Constraints vary by channels of the input, too: half as stiff against bending is half as stiff.
#[test]
fn constraints_vary_along_strands() {
    let strands = strands();
    let count = strands[0].len();
    let mut scales = vec![1.0; 3 * count];
    scales[count..2 * count].fill(0.5);
    let thick = || rod().set("radius", 1e-2).set("shear", 8e7);
    let found =
        settled(thick().set("youngs", 2e8), with_numbers(&curves(&strands), "bend-scale", scales));
    // Softer against stretching as well, which is 1e-5 of the bending here.
    let soft = settled(thick().set("youngs", 1e8), curves(&strands));
    let stiff = settled(thick().set("youngs", 2e8), curves(&strands));
    for n in 0..3 * count {
        let wanted = if n / count == 1 { soft[n] } else { stiff[n] };
        assert!(found[n].distance(wanted) < 1e-4, "vertex {n}: {}, wanted {wanted}", found[n]);
    }
    assert!(soft[2 * count - 1].distance(stiff[2 * count - 1]) > 0.02);
}
