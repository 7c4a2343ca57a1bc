//! Fuzz target `spans`: the property of `properties::spans`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::spans::check(input) {
        panic!("{broken}");
    }
});
