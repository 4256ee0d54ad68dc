//! Any sequence of operations leaves what the naive model has.

use super::model::Pair;
use crate::fixtures::Random;
use glam::{DVec3, Vec3};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Operation {
    Append { count: usize, reach: f64 },
    Drift,
    Jump,
    ToBorders,
    Rebucketize,
    Delete,
    DeleteWhere,
    Merge(usize),
    Split,
    ToggleExtra,
    Migrate,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        (0_usize..40, prop_oneof![Just(0.3), Just(2.0), Just(500.0)])
            .prop_map(|(count, reach)| Append { count, reach }),
        Just(Drift),
        Just(Jump),
        Just(ToBorders),
        Just(Rebucketize),
        Just(Rebucketize),
        Just(Delete),
        Just(DeleteWhere),
        (1_usize..5).prop_map(Merge),
        Just(Split),
        Just(ToggleExtra),
        Just(Migrate),
    ]
}

impl Operation {
    fn apply(&self, pair: &mut Pair, random: &mut Random) {
        let salt = random.next();
        let by_id = |id: u64| Random::new(id ^ salt);
        match *self {
            Self::Append { count, reach } => {
                let positions: Vec<DVec3> = (0..count).map(|_| random.point(reach)).collect();
                pair.append(&positions, random);
            }
            Self::Drift => pair.shift(|id, offset, size| offset + by_id(id).vec3() * size * 0.4),
            Self::Jump => {
                pair.shift(|id, offset, size| offset + (by_id(id).vec3() * 300.0).round() * size)
            }
            Self::ToBorders => pair.shift(|id, offset, size| {
                let borders = [0.0, -0.0, size, -size, size.next_down(), -1e-30, 3.0 * size];
                let mut random = by_id(id);
                let mut axis = |offset: f32| match random.below(9) {
                    border @ 0..7 => borders[border as usize],
                    _ => offset,
                };
                Vec3::new(axis(offset.x), axis(offset.y), axis(offset.z))
            }),
            Self::Rebucketize => pair.rebucketize(),
            Self::Delete => pair.delete(salt),
            Self::DeleteWhere => pair.delete_where(150.0),
            Self::Merge(size) => {
                let before = pair.totals();
                pair.merge(size);
                near(before, pair.totals());
            }
            Self::Split => {
                let before = pair.totals();
                pair.split(salt);
                near(before, pair.totals());
            }
            Self::ToggleExtra => pair.toggle_extra(),
            Self::Migrate => pair.migrate(),
        }
    }
}

fn near(before: (f64, i64), after: (f64, i64)) {
    assert!((before.0 - after.0).abs() <= 1e-5 * before.0, "mass {} → {}", before.0, after.0);
    assert_eq!(before.1, after.1, "whole numbers are shared without rest");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_sequence_of_operations_leaves_what_a_map_by_id_has(
        operations in prop::collection::vec(operation(), 1..25),
        seed in any::<u64>(),
    ) {
        let (mut pair, mut random) = (Pair::new(), Random::new(seed));
        pair.append(&(0..20).map(|_| random.point(1.0)).collect::<Vec<_>>(), &mut random);
        for operation in &operations {
            operation.apply(&mut pair, &mut random);
            pair.check();
        }
        pair.rebucketize();
        pair.check();
    }
}
