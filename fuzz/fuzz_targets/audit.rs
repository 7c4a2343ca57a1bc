//! Fuzz target `audit`: the property of `properties::audit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::audit::check(input) {
        panic!("{broken}");
    }
});
