//! Tests of the analysis through its public functions, in one binary: gates with planted faults, whole runs with
//! known truth, bad input, and properties.

mod analysis;
mod arrivals;
mod bad_input;
mod claims;
mod confinement;
mod coverage;
mod effects;
mod instrument;
mod made;
mod power;
mod properties;
mod simulation;
mod synth;
mod validity;
