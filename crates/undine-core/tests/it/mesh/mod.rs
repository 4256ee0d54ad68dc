//! Meshes against naive models, analytic measures, and hostile input.

mod adjacency;
mod channels;
mod faults;
mod hostile;
mod measures;
mod shapes;
mod threads;
