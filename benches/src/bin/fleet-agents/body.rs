//! The recorded parcel, once for each interval: the same results under the next number. Stamps of what was sent are in the
//! first alone, and no more than a real agent gives; then a controller of many has enough.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use engine::{IntervalData, Most};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use fleet::{Digest, Sums, digest};
use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

const SECOND_NS: u64 = 1_000_000_000;
/// Stamps that all agents give of an interval (`generate::agents::parcel`).
const STAMPS: usize = 400_000;

/// What a parcel holds.
pub(crate) struct Body {
    pub(crate) text: String,
    pub(crate) digest: Digest,
    pub(crate) sums: Sums,
}

pub(crate) fn replay(file: &Path, parcels: u64, agents: u32) -> Result<Vec<Body>, Box<dyn Error>> {
    let line: serde_json::Value = serde_json::from_str(fs::read_to_string(file)?.trim())?;
    let text = line["Parcel"]["body"].as_str().ok_or("the file has no parcel")?;
    let deflated = STANDARD_NO_PAD.decode(text)?;
    let mut bytes = Vec::new();
    DeflateDecoder::new(&*deflated).read_to_end(&mut bytes)?;
    let most = Most { entries: usize::MAX, stamps: usize::MAX };
    let recorded = engine::Parcel::from_bytes(&bytes, most)?.unpack()?;
    let stamps = |index| if index == 0 { STAMPS / agents.max(1) as usize } else { 0 };
    (0..parcels).map(|index| body(&recorded, index, stamps(index))).collect()
}

fn body(recorded: &IntervalData, index: u64, stamps: usize) -> Result<Body, Box<dyn Error>> {
    let mut data = recorded.clone();
    data.counts.index = index;
    (data.counts.start_ns, data.counts.end_ns) = (index * SECOND_NS, (index + 1) * SECOND_NS);
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut parcel = engine::Parcel::pack(&data);
    parcel.cut_stamps(stamps);
    deflated.write_all(&parcel.to_bytes())?;
    let text = STANDARD_NO_PAD.encode(deflated.finish()?);
    let mut all = data.counts.warm;
    all.add(&data.counts.measured);
    let sums = Sums {
        scheduled: all.scheduled,
        completed: all.completed,
        failed: all.failed_total(),
        censored: all.censored,
    };
    Ok(Body { digest: digest(text.as_bytes()), text, sums })
}
