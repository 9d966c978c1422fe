//! Writes the JavaScript glue of `siltstone-wasm`.

fn main() {}
