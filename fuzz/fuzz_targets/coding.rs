//! Fuzz target `coding`: the property of `properties::coding`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::coding::check(input) {
        panic!("{broken}");
    }
});
