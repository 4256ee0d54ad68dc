//! The command line `undine`.

fn main() {}
