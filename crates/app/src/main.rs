//! The program `cais`.

use mimalloc::MiMalloc;

/// The C library's allocator used a tenth of a request's time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    cais_cli::main(cais::AppContext::new)
}
