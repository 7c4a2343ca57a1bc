//! Fuzz target `chunked`: the property of `properties::chunked`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::chunked::check(input) {
        panic!("{broken}");
    }
});
