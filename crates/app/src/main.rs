//! The program `cais`.

use mimalloc::MiMalloc;

/// A tenth of a request's time went to the C library's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    cais::cli::main()
}
