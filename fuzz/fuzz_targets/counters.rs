//! Fuzz target `counters`: the property of `properties::counters`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::counters::check(input) {
        panic!("{broken}");
    }
});
