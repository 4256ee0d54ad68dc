//! The pipeline: World, timeline, Stages, Tasks, Objects, Actions, the Newton loop and checkpoints.
