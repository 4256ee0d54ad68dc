//! The rest parameters of a Simulation's Constraints, to read, to set, and to learn how a balance follows them: what it takes to match
//! a target, such as a groom that has to hang as it was drawn.
//!
//! A target x* is matched by rest parameters p that make ½‖x(p) − x*‖² small, x(p) being where everything comes to rest. Its
//! gradient is Jᵀ(x − x*), and products with J make a step of Gauss-Newton ([`Equilibrium`]). Between steps the Simulation comes
//! to rest again.

use crate::coupling::Coupling;
use crate::error::{Result, SimError};
use crate::newton::Equilibrium;
use crate::simulation::Simulation;
use crate::solver;
use crate::stage::Stage;
use crate::task::Moment;
use crate::tree::BehaviorEntry;

/// A rest value of an element of a Constraint, such as the length of an edge or its natural curvature.
#[derive(Debug, Clone, PartialEq)]
pub struct RestParameter {
    /// The path of the Constraint's Behavior.
    pub of: String,
    /// What it is now, in the Constraint's own unit.
    pub value: f64,
    /// Within which bounds inverse dynamics would choose it, if it were as it began.
    pub bounds: [f64; 2],
}

/// A balance and how it follows rest parameters.
#[derive(Debug)]
pub struct Rest {
    /// How unknowns follow rest parameters, which come in the order of [`Simulation::rest_parameters`].
    pub equilibrium: Equilibrium,
    /// What is out of balance, as a share of the forces that Constraints balance: as much is to be expected of the derivatives' error.
    pub imbalance: f64,
}

impl Simulation {
    /// The rest parameters of all Constraints, in the order of evaluation. Elements come with the first substep, so that at least one frame has to be
    /// simulated before.
    pub fn rest_parameters(&mut self) -> Result<Vec<RestParameter>> {
        let now = self.standstill()?;
        let mut found = Vec::new();
        for entry in &mut self.tree.behaviors {
            if let Some(coupling) = entry.behavior.coupling() {
                coupling.take_elements(&self.world, now.time + now.step)?;
                let of = |(value, bounds)| RestParameter { of: entry.path.clone(), value, bounds };
                found.extend(coupling.parameters().into_iter().map(of));
            }
        }
        Ok(found)
    }

    /// Sets them, in the same order. Nothing moves before the next frame.
    pub fn set_rest_parameters(&mut self, values: &[f64]) -> Result<()> {
        let wanted = self.rest_parameters()?.len();
        if values.len() != wanted {
            let what = format!("{} rest parameters are to be set", values.len());
            return Err(SimError::setup("setup", what, format!("give {wanted}, one for each")));
        }
        if let Some(n) = values.iter().position(|value| !value.is_finite()) {
            let what = format!("rest parameter {n} is to be {}", values[n]);
            return Err(SimError::setup("setup", what, "give a finite number"));
        }
        let time = self.timeline.time(self.clock.frame);
        let mut rest = values;
        for coupling in couplings(&mut self.tree.behaviors) {
            rest = coupling.set_parameters(rest);
            coupling.keep_parameters(&self.world, time)?;
        }
        Ok(())
    }

    /// How the balance that coupled Objects are in follows the rest parameters. Contacts and whatever depends on speed take no part, and Forces
    /// are dead loads. Refuses hard rows, and what is in no stable balance.
    pub fn equilibrium(&mut self) -> Result<Rest> {
        let now = self.standstill()?;
        for stage in [Stage::Embed, Stage::ClearForces, Stage::AddForces] {
            self.run_tasks(stage, &now, &mut ())?;
        }
        let mut chosen = Vec::new();
        for coupling in couplings(&mut self.tree.behaviors) {
            coupling.take_elements(&self.world, now.time + now.step)?;
            chosen.push(coupling);
        }
        let (equilibrium, imbalance) = solver::equilibrium(&self.world, chosen, now.step)?;
        Ok(Rest { equilibrium, imbalance })
    }

    /// The step that ends where the World is. Refuses one before the first substep.
    fn standstill(&self) -> Result<Moment> {
        if self.clock.substeps == 0 {
            let what = "Constraints have no elements before the first substep";
            return Err(SimError::setup("setup", what, "simulate a frame first"));
        }
        Ok(Moment {
            frame: self.clock.frame,
            substep: 0,
            iteration: 0,
            time: self.timeline.time(self.clock.frame) - self.timeline.frame_time(),
            step: self.timeline.frame_time(),
            count: self.clock.substeps,
            seed: self.timeline.seed,
        })
    }
}

fn couplings(behaviors: &mut [BehaviorEntry]) -> impl Iterator<Item = &mut dyn Coupling> {
    behaviors.iter_mut().filter_map(|entry| entry.behavior.coupling())
}
