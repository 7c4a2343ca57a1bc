//! Fuzz target `template`: the property of `properties::template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::template::check(input) {
        panic!("{broken}");
    }
});
