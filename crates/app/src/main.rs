//! The program `cais`.

use mimalloc::MiMalloc;

/// The allocator. With the C library's allocator, a tenth of a request's time was spent on allocation.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    cais_cli::main(cais::AppContext::new)
}
