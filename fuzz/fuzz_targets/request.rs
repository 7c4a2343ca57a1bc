//! Fuzz target `request`: the property of `properties::request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::request::check(input) {
        panic!("{broken}");
    }
});
