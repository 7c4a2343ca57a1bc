//! Fuzz target `profile`: the property of `properties::profile`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::profile::check(input) {
        panic!("{broken}");
    }
});
