//! The paths of all pages, read from the table in `pages/mod.rs`. So a test over all pages includes each new page.

const TABLE: &str = include_str!("../pages/mod.rs");
/// The beginning of the path of each payment page.
const PUBLIC: &str = "/pay/";

/// Returns the paths with this method, without the payment pages. Each parameter is `x`.
fn paths(method: &str) -> Vec<String> {
    let found = TABLE.split("page(").skip(1).filter_map(|row| {
        let (_, rest) = row.split_once('"')?;
        let (path, rest) = rest.split_once('"')?;
        let is_found = !path.starts_with(PUBLIC) && rest.contains(&format!("{method}().to("));
        is_found.then(|| path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect::<Vec<_>>())
    });
    found.map(|parts| parts.join("/")).collect()
}

/// Returns the paths of all pages.
pub(super) fn pages() -> Vec<String> {
    paths("get")
}

/// Returns the paths of all forms.
pub(super) fn forms() -> Vec<String> {
    paths("post")
}

#[test]
fn table_of_pages_is_read_whole() {
    let (pages, forms) = (pages(), forms());
    let count = |method: &str| TABLE.matches(&format!("{method}().to(")).count();
    // Payment pages: `/pay/{token}` with its live part and two images, and its form.
    assert_eq!((pages.len() + 4, forms.len() + 1), (count("get"), count("post")));
    assert!(pages.contains(&"/crypto/withdrawals/confirm/x".to_owned()) && forms.contains(&"/logout".to_owned()));
}
