//! Makes cargo rebuild the crate when a migration changes. The crate embeds the migrations, and the compiler does not track their files.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
