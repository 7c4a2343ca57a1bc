//! Fuzz target `answer`: the property of `properties::answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::answer::check(input) {
        panic!("{broken}");
    }
});
