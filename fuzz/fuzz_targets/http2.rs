//! Fuzz target `http2`: the property of `properties::http2`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::http2::check(input) {
        panic!("{broken}");
    }
});
