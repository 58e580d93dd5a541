//! The dashboard's table of pages, and a test that each page is checked in Chromium.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use super::{flows, orders, pages, payments, webhooks};

/// The file with the table.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dashboard/src/pages/mod.rs");
/// The ends of the paths that are no pages: files, and parts of a page.
const NOT_PAGES: [&str; 4] = [".csv", ".png", ".svg", "/live"];

/// Returns the paths that a browser opens, in the order of the table.
fn all() -> Vec<String> {
    let source = std::fs::read_to_string(TABLE).unwrap();
    let rows = source.split("page(").skip(1).filter(|row| row.contains("get()"));
    let paths = rows.filter_map(|row| row.split('"').nth(1)).map(str::to_owned);
    paths.filter(|path| !NOT_PAGES.iter().any(|end| path.ends_with(end))).collect()
}

/// Returns the pages without parameters, of operators or of merchants. Pages before a login are left out.
pub fn plain_pages(of_operators: bool) -> Vec<String> {
    let is_plain = |path: &String| !path.contains('{') && !flows::BEFORE_LOGIN.contains(&path.as_str());
    all().into_iter().filter(|path| is_plain(path) && path.starts_with("/operator/") == of_operators).collect()
}

/// Returns the first page of the table that serves a path.
pub fn page_of(path: &str) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default();
    all().into_iter().find(|page| {
        let mut parts = page.split('/').zip(path.split('/'));
        page.split('/').count() == path.split('/').count()
            && parts.all(|(page, part)| page == part || page.starts_with('{'))
    })
}

#[test]
fn every_page_of_the_dashboard_is_checked_in_chromium() {
    let all: BTreeSet<String> = all().into_iter().collect();
    let flows = [&flows::BEFORE_LOGIN[..], &flows::CHECKED, &orders::CHECKED, &pages::CHECKED, &payments::CHECKED];
    let flows = flows.into_iter().flatten().chain(&webhooks::CHECKED);
    let mut checked: BTreeSet<String> = flows.map(|page| (*page).to_owned()).collect();
    checked.extend([false, true].into_iter().flat_map(plain_pages));
    assert_eq!(all.difference(&checked).collect::<Vec<_>>(), Vec::<&String>::new(), "no test checks these pages");
    assert_eq!(checked.difference(&all).collect::<Vec<_>>(), Vec::<&String>::new(), "these pages do not exist");
}

#[test]
fn page_of_a_path_is_found() {
    let page = |path| page_of(path).unwrap_or_default();
    assert_eq!(page("/"), "/");
    assert_eq!(page("/charges/new?a=/b"), "/charges/new");
    assert_eq!(page("/charges/chg_1"), "/charges/{id}");
    assert_eq!(page("/crypto/deposits/quotes/1"), "/crypto/deposits/quotes/{id}");
    assert_eq!(page("/assets/1"), "");
}
