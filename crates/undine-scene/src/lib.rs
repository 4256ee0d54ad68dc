//! Scene files: from text to a Solver Setup, with errors that point at the line; and the data graph.
