//! A test stand: points, rigid bodies, weighted and fixed particles, with springs and welds between any of them.

use crate::springs::{Distance, Joint, Spring, Weld};
use undine_core::glam::{DMat3, DVec3};
use undine_sim::constraint::Placed;
use undine_sim::constraint::dahl::Dahl;
use undine_sim::newton::rotation::{exp, log};
use undine_sim::newton::{
    ConstraintTerm, Damping, Embedded, ForceTerm, Inertia, Iterate, Kind, Linearised, Merit, Mode,
    NewtonError, NewtonReport, NewtonSettings, Pose, Problem, Shape, System, SystemSettings, Term,
    Unknowns, Values, Weights, iterate,
};

/// The embedded particle systems of the stand.
pub const POINTS: usize = 0;
pub const BOUNDARY: usize = 1;
pub const WEIGHTED: usize = 2;
pub const FIXED: usize = 3;

/// Elements between two of the systems.
pub struct Links<E, const M: usize> {
    pub ends: [usize; 2],
    pub stencil: Vec<[u32; 2]>,
    pub elements: Vec<E>,
    pub mode: Mode,
    pub relaxation: f64,
    pub dahl: Option<[Dahl; M]>,
    pub start: Vec<[f64; M]>,
    pub friction: Vec<[f64; M]>,
    pub multipliers: Vec<[f64; M]>,
}

impl<E, const M: usize> Links<E, M> {
    pub fn new(ends: [usize; 2], links: impl IntoIterator<Item = ([u32; 2], E)>) -> Self {
        let (stencil, elements): (Vec<_>, Vec<_>) = links.into_iter().unzip();
        let zero = vec![[0.0; M]; elements.len()];
        Self {
            ends,
            stencil,
            elements,
            mode: Mode::Stiffness,
            relaxation: 0.0,
            dahl: None,
            start: zero.clone(),
            friction: zero,
            multipliers: Vec::new(),
        }
    }

    fn damping(&self) -> Damping<'_, M> {
        Damping {
            relaxation: Values::All(self.relaxation),
            dahl: self.dahl.map(Values::All),
            start: &self.start,
            friction: &self.friction,
        }
    }
}

pub struct Stand {
    pub dt: f64,
    pub gravity: DVec3,
    /// Implicit drag on points [N·s/m].
    pub drag: f64,
    pub settings: SystemSettings,
    pub point_mass: Vec<f64>,
    pub points: Vec<DVec3>,
    pub velocity: Vec<DVec3>,
    pub body_mass: Vec<f64>,
    /// In the body's axes.
    pub tensor: Vec<DMat3>,
    pub bodies: Vec<Pose>,
    pub body_velocity: Vec<DVec3>,
    pub spin: Vec<DVec3>,
    pub boundary: Shape,
    pub weights: Shape,
    pub fixed: Vec<Placed>,
    pub springs: Vec<Links<Spring, 1>>,
    pub welds: Vec<Links<Joint, 12>>,
    system: Option<System>,
    at_start: (Vec<DVec3>, Vec<Pose>),
    saved: (Vec<DVec3>, Vec<Pose>),
    target: (Vec<DVec3>, Vec<Pose>),
}

impl Stand {
    pub fn new(dt: f64) -> Self {
        Self {
            dt,
            gravity: DVec3::ZERO,
            drag: 0.0,
            settings: SystemSettings::default(),
            point_mass: Vec::new(),
            points: Vec::new(),
            velocity: Vec::new(),
            body_mass: Vec::new(),
            tensor: Vec::new(),
            bodies: Vec::new(),
            body_velocity: Vec::new(),
            spin: Vec::new(),
            boundary: Shape::Rigid { body: Vec::new(), rest: Vec::new() },
            weights: Shape::Weights(Weights::new()),
            fixed: Vec::new(),
            springs: Vec::new(),
            welds: Vec::new(),
            system: None,
            at_start: Default::default(),
            saved: Default::default(),
            target: Default::default(),
        }
    }

    pub fn point(&mut self, mass: f64, x: DVec3, v: DVec3) {
        self.point_mass.push(mass);
        self.points.push(x);
        self.velocity.push(v);
    }

    /// A body of three different moments, with boundary particles at the given places in its axes.
    pub fn body(&mut self, mass: f64, centre: DVec3, v: DVec3, spin: DVec3, places: &[DVec3]) {
        let number = self.bodies.len() as u32;
        self.body_mass.push(mass);
        self.tensor.push(DMat3::from_diagonal(DVec3::new(0.2, 0.3, 0.4) * mass));
        self.bodies.push(Pose { centre, rotation: exp(DVec3::new(0.3, 0.1, -0.2)) });
        self.body_velocity.push(v);
        self.spin.push(spin);
        if let Shape::Rigid { body, rest } = &mut self.boundary {
            for (n, &x) in places.iter().enumerate() {
                body.push(number);
                rest.push(Placed { x, frame: exp(DVec3::X * (0.3 * n as f64)) });
            }
        }
    }

    pub fn weighted(&mut self, entries: &[(u32, f64, DVec3)]) {
        if let Shape::Weights(weights) = &mut self.weights {
            weights.add(entries.iter().copied());
        }
    }

    pub fn unknowns(&self) -> Unknowns {
        let mut unknowns = Unknowns::new();
        unknowns.add("points", Kind::Points, self.points.len());
        unknowns.add("bodies", Kind::Bodies, self.bodies.len());
        unknowns
    }

    fn placed_of(&self, shape: &Shape, count: usize) -> Vec<Placed> {
        let mut placed = vec![Placed::at(DVec3::ZERO); count];
        shape.place(&self.points, &self.bodies, &mut placed).unwrap();
        placed
    }

    pub fn placed(&self) -> [Vec<Placed>; 4] {
        let Shape::Rigid { body, .. } = &self.boundary else { unreachable!() };
        let Shape::Weights(weights) = &self.weights else { unreachable!() };
        [
            self.placed_of(&Shape::Identity, self.points.len()),
            self.placed_of(&self.boundary, body.len()),
            self.placed_of(&self.weights, weights.len()),
            self.fixed.clone(),
        ]
    }

    /// Calls with all that enters a linearisation here, and the particle systems.
    pub fn with<R>(&self, run: impl FnOnce(&Unknowns, &Iterate<'_>) -> R) -> R {
        let unknowns = self.unknowns();
        let placed = self.placed();
        let embedded = |n: usize| match n {
            POINTS => Embedded::new(&unknowns, 0, &Shape::Identity, &[], &placed[n]).unwrap(),
            BOUNDARY => {
                Embedded::new(&unknowns, 1, &self.boundary, &self.bodies, &placed[n]).unwrap()
            }
            WEIGHTED => Embedded::new(&unknowns, 0, &self.weights, &[], &placed[n]).unwrap(),
            _ => Embedded::fixed(&placed[n]),
        };
        let springs: Vec<_> = self
            .springs
            .iter()
            .map(|links| ConstraintTerm {
                name: "springs",
                constraint: &Distance,
                elements: &links.elements,
                stencil: &links.stencil,
                embedded: links.ends.map(embedded),
                mode: links.mode,
                damping: links.damping(),
                multipliers: &links.multipliers,
            })
            .collect();
        let welds: Vec<_> = self
            .welds
            .iter()
            .map(|links| ConstraintTerm {
                name: "welds",
                constraint: &Weld,
                elements: &links.elements,
                stencil: &links.stencil,
                embedded: links.ends.map(embedded),
                mode: links.mode,
                damping: links.damping(),
                multipliers: &links.multipliers,
            })
            .collect();
        let springs = springs.iter().map(|term| term as &dyn Term);
        let terms: Vec<&dyn Term> =
            springs.chain(welds.iter().map(|term| term as &dyn Term)).collect();

        let (start, _) = &self.at_start;
        let drag = |n: usize| (self.points[n] - start.get(n).unwrap_or(&self.points[n])) / self.dt;
        let on_points: Vec<DVec3> = (0..self.points.len())
            .map(|n| self.gravity * self.point_mass[n] - drag(n) * self.drag)
            .collect();
        let stiffness =
            vec![DMat3::from_diagonal(DVec3::splat(self.drag / self.dt)); self.points.len()];
        let centres: Vec<Placed> = self.bodies.iter().map(|pose| Placed::at(pose.centre)).collect();
        let centre_shape = Shape::Rigid {
            body: (0..self.bodies.len() as u32).collect(),
            rest: vec![Placed::at(DVec3::ZERO); self.bodies.len()],
        };
        let on_bodies: Vec<DVec3> = self.body_mass.iter().map(|m| self.gravity * *m).collect();
        let forces = [
            ForceTerm {
                name: "gravity and drag",
                embedded: embedded(POINTS),
                force: &on_points,
                stiffness: (self.drag > 0.0).then_some(&stiffness),
            },
            ForceTerm {
                name: "gravity",
                embedded: Embedded::new(&unknowns, 1, &centre_shape, &self.bodies, &centres)
                    .unwrap(),
                force: &on_bodies,
                stiffness: None,
            },
        ];

        let (points, bodies) = &self.target;
        let displacement: Vec<DVec3> =
            self.points.iter().zip(points).map(|(x, target)| *x - *target).collect();
        let body_displacement: Vec<DVec3> =
            self.bodies.iter().zip(bodies).map(|(x, t)| x.centre - t.centre).collect();
        let turn: Vec<DVec3> = self
            .bodies
            .iter()
            .zip(bodies)
            .map(|(x, t)| log(&(x.rotation * t.rotation.transpose())))
            .collect();
        let tensor: Vec<DMat3> = self
            .tensor
            .iter()
            .zip(bodies)
            .map(|(i, t)| t.rotation * *i * t.rotation.transpose())
            .collect();
        let inertia = [
            Inertia::Points { mass: &self.point_mass, displacement: &displacement },
            Inertia::Bodies {
                mass: &self.body_mass,
                displacement: &body_displacement,
                tensor: &tensor,
                turn: &turn,
            },
        ];
        let at = Iterate { dt: self.dt, inertia: &inertia, terms: &terms, forces: &forces };
        run(&unknowns, &at)
    }

    /// Begins a step: targets, the rows at the start, the system.
    pub fn begin(&mut self) {
        self.at_start = (self.points.clone(), self.bodies.clone());
        let points = self.points.iter().zip(&self.velocity).map(|(x, v)| *x + *v * self.dt);
        let moved = self.bodies.iter().zip(&self.body_velocity).zip(&self.spin);
        let bodies = moved.map(|((pose, v), spin)| Pose {
            centre: pose.centre + *v * self.dt,
            rotation: exp(*spin * self.dt) * pose.rotation,
        });
        self.target = (points.collect(), bodies.collect());
        let placed = self.placed();
        let value = |ends: &[usize; 2], stencil: &[u32; 2]| -> [Placed; 2] {
            std::array::from_fn(|n| placed[ends[n]][stencil[n] as usize])
        };
        use undine_sim::constraint::Constraint;
        for links in &mut self.springs {
            for (n, stencil) in links.stencil.iter().enumerate() {
                let at = value(&links.ends, stencil);
                links.start[n] = Distance.evaluate(&links.elements[n], &at).value;
            }
        }
        for links in &mut self.welds {
            for (n, stencil) in links.stencil.iter().enumerate() {
                let at = value(&links.ends, stencil);
                links.start[n] = Weld.evaluate(&links.elements[n], &at).value;
            }
        }
        let mut system =
            self.system.take().unwrap_or_else(|| System::new(self.unknowns()).unwrap());
        self.with(|_, at| system.connect(at.terms, at.forces)).unwrap();
        self.system = Some(system);
    }

    /// One step of time.
    pub fn advance(&mut self, settings: &NewtonSettings) -> Result<NewtonReport, NewtonError> {
        self.begin();
        let dt = self.dt;
        let report = iterate(self, settings, dt)?;
        for (n, v) in self.velocity.iter_mut().enumerate() {
            *v = (self.points[n] - self.at_start.0[n]) / dt;
        }
        for (n, pose) in self.bodies.iter().enumerate() {
            let start = &self.at_start.1[n];
            self.body_velocity[n] = (pose.centre - start.centre) / dt;
            self.spin[n] = log(&(pose.rotation * start.rotation.transpose())) / dt;
        }
        Ok(report)
    }

    pub fn momentum(&self) -> DVec3 {
        let points = self.velocity.iter().zip(&self.point_mass);
        let bodies = self.body_velocity.iter().zip(&self.body_mass);
        points.chain(bodies).fold(DVec3::ZERO, |sum, (v, m)| sum + *v * *m)
    }

    pub fn coupled(&self) -> usize {
        self.system.as_ref().map_or(0, System::coupled)
    }
}

impl Problem for Stand {
    type Error = NewtonError;

    fn linearise(&mut self, du: &mut Vec<f64>) -> Result<Linearised, NewtonError> {
        let Some(mut system) = self.system.take() else { unreachable!() };
        let solved = self.with(|_, at| system.solve(at, &self.settings, du));
        self.system = Some(system);
        let solved = solved?;
        let (springs, welds) = solved.multipliers.split_at(self.springs.len());
        for (links, lambda) in self.springs.iter_mut().zip(springs) {
            links.multipliers = lambda.as_chunks::<1>().0.to_vec();
        }
        for (links, lambda) in self.welds.iter_mut().zip(welds) {
            links.multipliers = lambda.as_chunks::<12>().0.to_vec();
        }
        Ok(solved.linearised)
    }

    fn merit(&mut self) -> Result<Option<Merit>, NewtonError> {
        let Some(system) = &self.system else { unreachable!() };
        let mut merit = self.with(|_, at| system.merit(at))?;
        // Gravity and drag have potentials; drag's is that of a linear spring from the start.
        for (n, start) in self.at_start.0.iter().enumerate() {
            let d = self.points[n] - *start;
            merit.add(-self.gravity.dot(d) * self.point_mass[n]);
            merit.add(0.5 * self.drag / self.dt * d.length_squared());
        }
        for (n, start) in self.at_start.1.iter().enumerate() {
            let d = self.bodies[n].centre - start.centre;
            merit.add(-self.gravity.dot(d) * self.body_mass[n]);
        }
        Ok(Some(merit))
    }

    fn save(&mut self) {
        self.saved = (self.points.clone(), self.bodies.clone());
    }

    fn step(&mut self, du: &[f64], alpha: f64) -> Result<(), NewtonError> {
        let at = |row: usize| DVec3::from_slice(&du[row..row + 3]) * alpha;
        let bodies = 3 * self.points.len();
        for (n, x) in self.points.iter_mut().enumerate() {
            *x = self.saved.0[n] + at(3 * n);
        }
        for (n, pose) in self.bodies.iter_mut().enumerate() {
            let saved = &self.saved.1[n];
            pose.centre = saved.centre + at(bodies + 6 * n);
            pose.rotation = exp(at(bodies + 6 * n + 3)) * saved.rotation;
        }
        Ok(())
    }
}
