//! Force fields: what they are, their derivatives, and what masks leave of them.

use std::sync::Arc;
use undine_actions::field::{
    Falloff, ForceField, Form, Mask, Per, Sample, Turbulence, VolumeField,
};
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::volume::{DiscreteVolume, Interpolation, VoxelShape};
use undine_core::{ChannelSpec, Frame, GridDomain};
use undine_geometry::{Shape, random};

fn place(n: u64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| 4.0 * (random::unit(3, 3 * n + k) - 0.5)))
}

fn forms() -> Vec<Form> {
    let (centre, axis) = (DVec3::new(0.3, -0.2, 0.1), DVec3::new(1.0, 2.0, -2.0));
    let falloff = Falloff::new(0.8, 2.0).unwrap();
    vec![
        Form::Uniform(DVec3::new(0.0, -9.81, 0.0)),
        Form::Radial { centre, strength: 3.0, falloff },
        Form::Radial { centre, strength: -3.0, falloff: Falloff::new(0.5, 0.0).unwrap() },
        Form::vortex(centre, axis, 2.0, falloff).unwrap(),
        Form::axial(centre, axis, 2.0, falloff).unwrap(),
    ]
}

fn check_derivative(field: &ForceField, at: DVec3, time: f64) {
    let step = 1e-6;
    let value = |at| field.at(at, time).value;
    let [x, y, z] =
        DVec3::AXES.map(|a| (value(at + a * step) - value(at - a * step)) / (2.0 * step));
    let found = field.at(at, time).jacobian.unwrap();
    assert!(found.abs_diff_eq(DMat3::from_cols(x, y, z), 1e-5), "{field:?} at {at}: {found}");
}

#[test]
fn derivatives_agree_with_differences_within_masks_too() {
    let solid = Arc::new(Shape::sphere(1.0).unwrap());
    for form in forms() {
        let masks = vec![
            Mask::inside(solid.clone(), 0.7).unwrap(),
            Mask::noise(4, 0.5, 1.0, (0.0, 0.4)).unwrap(),
            Mask::Not(Box::new(Mask::inside(solid.clone(), 1.5).unwrap())),
        ];
        for masks in [vec![], masks] {
            let field = ForceField { form: form.clone(), per: Per::Mass, masks };
            for n in 0..100 {
                check_derivative(&field, place(n), 0.4);
            }
        }
    }
}

#[test]
fn radial_fields_attract_and_vortices_turn() {
    let falloff = Falloff::new(1.0, 2.0).unwrap();
    let pull = Form::Radial { centre: DVec3::X, strength: 2.0, falloff };
    let Sample { value, .. } = pull.at(DVec3::new(4.0, 0.0, 0.0), 0.0);
    // At three reaches, 1/(1 + 9).
    assert!(value.abs_diff_eq(DVec3::NEG_X * 0.2, 1e-6), "{value}");
    assert_eq!(pull.at(DVec3::X, 0.0).value, DVec3::ZERO);
    let swirl = Form::vortex(DVec3::ZERO, DVec3::Y * 7.0, 2.0, falloff).unwrap();
    let Sample { value, .. } = swirl.at(DVec3::new(1.0, 5.0, 0.0), 0.0);
    assert!(value.abs_diff_eq(DVec3::NEG_Z, 1e-5), "{value}");
    let jet = Form::axial(DVec3::ZERO, DVec3::Y, 2.0, falloff).unwrap();
    assert!(jet.at(DVec3::new(1.0, 5.0, 0.0), 0.0).value.abs_diff_eq(DVec3::Y, 1e-12));
}

#[test]
fn masks_let_through_what_they_say() {
    let ball = Arc::new(Shape::sphere(1.0).unwrap());
    let soft = Mask::inside(ball.clone(), 0.2).unwrap();
    let weight = |mask: &Mask, x: f64, t: f64| mask.at(DVec3::X * x, t).value;
    assert_eq!((weight(&soft, 0.0, 0.0), weight(&soft, 0.89, 0.0)), (1.0, 1.0));
    assert!((weight(&soft, 1.0, 0.0) - 0.5).abs() < 1e-12);
    assert_eq!(weight(&soft, 1.11, 0.0), 0.0);
    let hard = Mask::inside(ball, 0.0).unwrap();
    assert_eq!((weight(&hard, 0.99, 0.0), weight(&hard, 1.01, 0.0)), (1.0, 0.0));
    let time = Mask::during(1.0, 3.0, 0.5).unwrap();
    let times = [0.9, 1.0, 1.25, 1.5, 2.0, 2.75, 3.0, 3.1].map(|t| weight(&time, 0.0, t));
    assert_eq!(times, [0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0]);
    let patches = Mask::noise(1, 0.3, 1.0, (0.0, 0.0)).unwrap();
    let share = (0..10_000).map(|n| patches.at(place(n) * 9.0, 0.0).value).sum::<f64>() / 1e4;
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

/// The impulse of a window is that of its length, by steps of any length, however they lie to it; a step inside of it is left as it is.
#[test]
fn a_window_gives_the_same_impulse_by_steps_of_any_length() {
    // Of the last, which fades in for longer than it lasts, the sum is 2 f (t³ − t⁴/2) with t a quarter.
    for (fade, wanted, most) in [(0.0, 0.01, 50), (0.002, 0.008, 3), (0.02, 5.46875e-4, 3)] {
        for steps in 1..=most {
            let length = 0.042 / f64::from(steps);
            let of = |n: u32| {
                let times = [n, n + 1].map(|n| length * f64::from(n));
                let window = Mask::during(0.005, 0.015, fade).unwrap();
                length * window.over(times).at(DVec3::ZERO, times[1]).value
            };
            let sum: f64 = (0..steps).map(of).sum();
            assert!((sum - wanted).abs() < 1e-9 * wanted, "{sum} s by {steps} steps, {fade}");
        }
    }
    let window = Mask::during(1.0, f64::INFINITY, 0.5).unwrap();
    assert!(matches!(window.clone().over([1.0, 1.2]), Mask::During { .. }));
    let Mask::Even(half) = window.over([0.0, 3.0]) else { panic!("it begins in this step") };
    assert!((half - 1.75 / 3.0).abs() < 1e-12, "{half}");
    let window = Mask::during(f64::NEG_INFINITY, 1.0, 0.0).unwrap();
    let Mask::Even(half) = window.over([0.0, 2.0]) else { panic!("it ends in this step") };
    assert!((half - 0.5).abs() < 1e-12, "{half}");
}

#[test]
fn a_field_is_per_mass_or_per_volume() {
    assert_eq!(Per::Mass.amount(3.0, 5.0), 3.0);
    assert_eq!(Per::Volume.amount(3.0, 5.0), 5.0);
}

#[test]
fn turbulence_is_taken_explicitly() {
    let form = Form::Turbulent(Turbulence::new(1, 1.0, 0.5, 1.0, (2, 0.6)).unwrap());
    let field =
        ForceField { form, per: Per::Volume, masks: vec![Mask::during(0.0, 1.0, 0.0).unwrap()] };
    let sample = field.at(DVec3::splat(0.3), 0.5);
    assert!(sample.jacobian.is_none() && sample.value.length() > 0.0);
    assert_eq!(field.at(DVec3::splat(0.3), 2.0).value, DVec3::ZERO);
}

#[test]
fn a_sampled_volume_gives_back_an_even_field_times_its_scale() {
    let mut domain = GridDomain::new("wind", Frame::new(DVec3::ZERO, 0.1).unwrap());
    let buckets = domain.buckets_in_box(DVec3::ZERO, DVec3::ONE, 0).unwrap();
    domain.set_buckets(&buckets).unwrap();
    let mut volume = DiscreteVolume::new("wind", &domain);
    let spec = ChannelSpec::new("force", Vec3::new(1.0, 2.0, 3.0));
    let force = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    let column = volume.column(force).unwrap();
    let field = VolumeField::new(&column, volume.topology(), Interpolation::Linear, 2.0);
    let sample = field.at(DVec3::splat(0.43));
    assert!(sample.value.abs_diff_eq(DVec3::new(2.0, 4.0, 6.0), 1e-6));
    assert!(sample.jacobian.unwrap().abs_diff_eq(DMat3::ZERO, 1e-5));
}

#[test]
fn impossible_fields_are_refused() {
    let falloff = Falloff::new(1.0, 1.0).unwrap();
    assert!(Form::vortex(DVec3::ZERO, DVec3::ZERO, 1.0, falloff).is_err());
    assert!(Form::axial(DVec3::ZERO, DVec3::NAN, 1.0, falloff).is_err());
    assert!(Falloff::new(0.0, 1.0).is_err() && Falloff::new(1.0, -1.0).is_err());
    assert!(Mask::during(2.0, 1.0, 0.0).is_err() && Mask::noise(1, 0.0, 1.0, (0.0, 0.0)).is_err());
}
