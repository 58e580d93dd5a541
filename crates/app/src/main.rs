//! The program `cais`.

fn main() -> std::process::ExitCode {
    cais::cli::main()
}
