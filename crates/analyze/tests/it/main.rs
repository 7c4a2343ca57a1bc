//! Tests of the analysis through its public functions, in one binary: gates with planted faults, whole runs with
//! known truth, bad input, and properties.

mod across;
mod analysis;
mod arrivals;
mod asked;
mod bad_input;
mod capacity;
mod claims;
mod confinement;
mod coverage;
mod cross_checks;
mod design;
mod effects;
mod families;
mod gates;
mod history;
mod instrument;
mod layers;
mod made;
mod memory_view;
mod outliers;
mod outside;
mod power;
mod properties;
mod repetition;
mod scaling;
mod search;
mod sequential;
mod shift;
mod simulation;
mod soak;
mod steady;
mod synth;
mod tails;
mod validity;
mod why;
