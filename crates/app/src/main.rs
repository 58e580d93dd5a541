//! The program `cais`.

use mimalloc::MiMalloc;
use rustix::process::{Resource, Rlimit, setrlimit};

/// The allocator. With the C library's allocator, a tenth of a request's time was spent on allocation.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    forbid_core_files();
    cais_cli::main(cais::AppContext::new)
}

/// Forbids core files, because the memory of the process contains the master key and the secrets of acquirers. If the system refuses, the
/// limit that the process was started with applies.
fn forbid_core_files() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _result = setrlimit(Resource::Core, none);
}
