//! Fuzz target `files`: the property of `properties::files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::files::check(input) {
        panic!("{broken}");
    }
});
