//! What the real programs make of our files.

#[cfg(feature = "peer-python")]
mod mesh;
#[cfg(feature = "peer-openvdb")]
mod openvdb;
#[cfg(feature = "peer-python")]
mod usd;
#[cfg(feature = "peer-python")]
mod usdc;
