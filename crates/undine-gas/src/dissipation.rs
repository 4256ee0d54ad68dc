//! What is in a fluid fades: dφ/dt = −(φ − φ₀)/τ, solved exactly over the step, with φ₀ the value of the surroundings.

use undine_core::{Accessor, Handle};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::offers::FineGrid;
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Smoke fades."
pub const DECLARATION: Declaration = Declaration {
    name: "dissipation",
    kind: Kind::Operator,
    doc: "Lets smoke fade and heat go, by half in a time",
    about: "A channel on the cells of every fluid in its scope comes nearer to what the surroundings have: `density` to none, \
            `temperature` to the ambient one.",
    parameters: &[
        Parameter::new(
            "channel",
            Type::Text,
            "what fades: `density`, `temperature` or another channel of the fluid",
        ),
        Parameter::number("half-life", Dimension::TIME, 1.0, "time in which half of it goes")
            .positive()
            .usually(1e-3, 1e4),
    ],
    example: "dissipation channel=\"density\" half-life=\"4 s\"",
};

/// Lets a channel fade.
pub struct Dissipation {
    on: Vec<(FineGrid, Handle<f32>)>,
    channel: String,
    half_life: f64,
}

impl Operator for Dissipation {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let channel = ingest.values().text("channel")?;
        let cargo = |id: &ObjectId| {
            let object = ingest.world.object(*id);
            Some(object.offers.fluid?.cargo(object.domain))
        };
        let fluids: Vec<FineGrid> = scope.iter().filter_map(cargo).collect();
        let on: Vec<_> = fluids
            .iter()
            .filter_map(|grid| {
                Some((*grid, ingest.world.volumes[grid.volume].handle(&channel).ok()?))
            })
            .collect();
        if on.is_empty() && !fluids.is_empty() {
            let what = format!("no fluid in its scope has a channel `{channel}` of numbers");
            let help = "name `density`, `temperature`, or one of the `channels` of a `volume`";
            return Err(ingest.bad("channel", what, help));
        }
        if on.is_empty() {
            return Ok(None);
        }
        let mut dissipation = Self { on, channel, half_life: 1.0 };
        dissipation.update(ingest)?;
        Ok(Some(dissipation))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.half_life = ingest.values().number("half-life")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = self.on.iter().map(|(grid, _)| StoreId::from(grid.volume));
        on.task(Stage::GroupExit, "let it fade", Self::fade)
            .writes(stores.map(|store| store.channel(self.channel.clone())));
    }
}

impl Dissipation {
    fn fade(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let left = (-now.step / self.half_life).exp2() as f32;
        for (grid, channel) in &self.on {
            let domain = &world.domains[grid.domain];
            let volume = &world.volumes[grid.volume];
            let outside = volume.column(*channel)?.background();
            Accessor::new("fade", domain).over(volume.topology()).run(
                volume.write(*channel),
                |_, values| {
                    values
                        .iter_mut()
                        .for_each(|value| *value = outside + left * (*value - outside));
                },
            )?;
        }
        Ok(())
    }
}
