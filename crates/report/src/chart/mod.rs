//! Charts as inline SVG by the plotters library.
//!
//! Invariants: values are mapped to coordinates and nothing else; what is not finite or absurdly large is left out,
//! so a hostile file cannot hang the axis; the library escapes all text; colours stand for targets and are the same
//! in every chart. Colours here are stand-ins that the page's style sheet replaces in dark mode.
//! Absent on purpose: font files (the browser sets the text) and scripts.

mod canvas;
mod curves;
mod forest;
mod ladder;
mod load;
mod memory;
mod soak;
mod standalone;
mod strips;
mod timeline;
mod waterfall;

pub(crate) use canvas::Palette;
pub(crate) use curves::curves;
pub(crate) use forest::forest;
pub(crate) use ladder::ladders;
pub(crate) use load::{load_curves, load_timelines};
pub(crate) use memory::memory;
pub(crate) use soak::soak;
pub use standalone::{NamedChart, charts};
pub(crate) use strips::strips;
pub(crate) use timeline::timelines;
pub(crate) use waterfall::waterfalls;

/// A drawn chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What it is of, one line, for the caption.
    pub(crate) title: String,
    /// What can be seen in it, for those who cannot see it.
    pub(crate) alt: String,
    /// How to read it, for below it; may be empty.
    pub(crate) note: &'static str,
    /// A whole `<svg>` element.
    pub(crate) svg: String,
}
