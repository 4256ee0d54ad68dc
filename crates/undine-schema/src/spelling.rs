//! What somebody may have meant: names that are spelt alike.

/// Those of `names` that are spelt like `typed`, nearest first: a third of its letters wrong at most, or a part of the name.
pub fn alike<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let allowed = 1 + typed.chars().count() / 3;
    let mut alike: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (edit_distance(&typed, &name.to_lowercase()), name))
        .filter(|&(distance, name)| {
            distance <= allowed
                || (typed.chars().count() > 2 && name.to_lowercase().contains(&typed))
        })
        .collect();
    alike.sort_by_key(|&(distance, _)| distance);
    alike.into_iter().map(|(_, name)| name).collect()
}

/// How many letters to insert, remove, replace, or exchange with their neighbour, to get from `a` to `b` (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = [vec![0; b.len() + 1], vec![0; b.len() + 1], (0..=b.len()).collect()];
    for i in 1..=a.len() {
        rows.rotate_left(1);
        let [two_before, before, row] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = before[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(before[j] + 1).min(row[j - 1] + 1);
            let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if exchanged {
                row[j] = row[j].min(two_before[j - 2] + 1);
            }
        }
    }
    rows[2][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_letters_are_counted() {
        for (a, b, wanted) in [
            ("viscosity", "viscosity", 0),
            ("viscocity", "viscosity", 1),
            ("viscoisty", "viscosity", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("abc", "", 3),
        ] {
            assert_eq!(edit_distance(a, b), wanted, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_comes_first_and_strange_ones_not_at_all() {
        let names = ["density", "viscosity", "velocity", "voxel"];
        assert_eq!(alike("densty", names), ["density"]);
        assert_eq!(alike("Viscocity", names)[0], "viscosity");
        assert_eq!(alike("city", names), ["velocity"]);
        assert!(alike("temperature", names).is_empty());
    }
}
