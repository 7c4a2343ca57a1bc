//! Fuzz target `response`: the property of `properties::response`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::response::check(input) {
        panic!("{broken}");
    }
});
