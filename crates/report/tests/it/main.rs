//! What people read, whole: every format of runs, loads and comparisons, over a sample run (`sample`) and hostile names.
//! One binary, because each would link the crate again.

mod across;
mod agents;
mod capacity;
mod charts;
mod factors;
mod hostile;
mod junit;
mod layers;
mod limits;
mod load;
mod markdown;
mod memory;
mod page;
mod requests;
mod sample;
mod text;
mod why;
