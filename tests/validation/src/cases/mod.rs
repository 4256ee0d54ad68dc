//! The cases, by subject. A line here makes a page of `docs/validation/`.

pub mod core;
pub mod gas;
pub mod geometry;
pub mod linsolve;
pub mod liquid;
pub mod outside;
pub mod solid;

use crate::page::Page;

/// The variable that tells this program, started again under `mpirun`, what to do.
pub const CHILD: &str = "UNDINE_VALIDATION_CHILD";

/// All pages, in the order in which they run.
pub const PAGES: &[Page] = &[
    Page { name: "core", title: "Validation of the core", cases: core::CASES },
    Page { name: "linsolve", title: "Validation of the solvers", cases: linsolve::CASES },
    Page { name: "geometry", title: "Validation of geometry", cases: geometry::CASES },
    Page { name: "gas", title: "Validation of gases", cases: gas::CASES },
    Page { name: "liquid", title: "Validation of liquids", cases: liquid::CASES },
    Page { name: "solid", title: "Validation of solids", cases: solid::CASES },
    Page { name: "outside", title: "Validation of what outside eyes found", cases: outside::CASES },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_cases_share_a_name() {
        let mut names: Vec<&str> =
            PAGES.iter().flat_map(|page| page.cases).map(|case| case.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
