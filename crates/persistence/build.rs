//! Builds again when a migration changes. Migrations are embedded, and the compiler does not track their files.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
