//! Fuzz target `experiment`: the property of `properties::experiment`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::experiment::check(input) {
        panic!("{broken}");
    }
});
