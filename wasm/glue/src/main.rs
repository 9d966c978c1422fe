//! Writes the JavaScript glue of `siltstone-wasm`: the module that the page's worker imports.
//!
//! Usage: `siltstone-glue MODULE.wasm FOLDER`. The output is that of `wasm-bindgen --target web`, but
//! for one thing: the worker always says where the module lies, so the glue has no path of its own.
//! Optimising the module is somebody else's work (`scripts/build-web.sh`).

use std::path::PathBuf;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("usage: siltstone-glue MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    match write(module, folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siltstone-glue: {}: {error:#}", module.display());
            ExitCode::FAILURE
        }
    }
}

fn write(module: &PathBuf, folder: &PathBuf) -> anyhow::Result<()> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .generate(folder)
}
