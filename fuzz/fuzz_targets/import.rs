//! Fuzz target `import`: the property of `properties::import`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::import::check(input) {
        panic!("{broken}");
    }
});
