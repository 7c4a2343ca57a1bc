//! Fuzz target `grpc`: the property of `properties::grpc`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(broken) = properties::grpc::check(input) {
        panic!("{broken}");
    }
});
