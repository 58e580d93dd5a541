//! Builds again when a migration changes: they are embedded, and the compiler does not see their files.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
