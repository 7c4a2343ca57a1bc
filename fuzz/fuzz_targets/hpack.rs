//! Fuzz target `hpack`: the property of `properties::hpack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::hpack::check(input) {
        panic!("{broken}");
    }
});
