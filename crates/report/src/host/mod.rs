//! The machine and the instrument: calibration, and in what two environments differ.

pub(crate) mod calibration;
pub(crate) mod environment;
pub(crate) mod instrument;
