//! Query strings of the API Pix and of Efí: instants, filters, and pages that are counted from 0.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    fields::Findings,
    problem::{Kind, Problem},
};

/// The default of `paginacao.itensPorPagina`.
const DEFAULT_PAGE_SIZE: usize = 100;

/// The largest legal value of `paginacao.itensPorPagina`.
const MAX_PAGE_SIZE: usize = 1000;

/// A query string during its parsing: the parameters that were not parsed yet, and the violations found so far.
#[derive(Debug)]
pub struct Query {
    values: BTreeMap<String, String>,
    findings: Findings,
}

/// An instant with its text in the query. The response repeats the text.
pub type Given = (Timestamp, String);

/// A period, inclusive at both ends.
#[derive(Clone, Debug)]
pub struct Period {
    /// `inicio`.
    pub from: Given,
    /// `fim`.
    pub to: Given,
}

/// The number of a page, from 0, and its size in items.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    number: usize,
    size: usize,
}

/// `paginacao` in the response of a list.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paging {
    pagina_atual: usize,
    itens_por_pagina: usize,
    quantidade_de_paginas: usize,
    quantidade_total_de_itens: usize,
}

impl Page {
    /// Returns the items of this page, and `paginacao` for the response. `all` are the matching items of all pages.
    pub fn cut<T>(self, all: impl Iterator<Item = T>) -> (Vec<T>, Paging) {
        let first = self.number.saturating_mul(self.size);
        let last = first.saturating_add(self.size);
        let mut total = 0_usize;
        let mut items = Vec::new();
        for item in all {
            if (first..last).contains(&total) {
                items.push(item);
            }
            total += 1;
        }
        let paging = Paging {
            pagina_atual: self.number,
            itens_por_pagina: self.size,
            // The schema requires at least one page, even if the page is empty.
            quantidade_de_paginas: total.div_ceil(self.size).max(1),
            quantidade_total_de_itens: total,
        };
        (items, paging)
    }
}

impl Query {
    /// Opens the query string of a request. A repeated parameter is a violation.
    #[must_use]
    pub fn of(request: &HttpRequest) -> Self {
        let mut findings = Findings::default();
        let mut values = BTreeMap::new();
        match web::Query::<Vec<(String, String)>>::from_query(request.query_string()) {
            Ok(pairs) => {
                for (name, value) in pairs.into_inner() {
                    if let Some(first) = values.insert(name.clone(), value) {
                        findings.add(name, "is given twice", &first);
                    }
                }
            }
            Err(error) => findings.add("query", format!("cannot be read: {error}"), ""),
        }
        Self { values, findings }
    }

    /// Returns the requested page. By default it is the first page, and a page has 100 items.
    pub fn page(&mut self) -> Page {
        let number = self.parsed("paginacao.paginaAtual", "must be an integer, 0 or above", |text| {
            text.parse::<u32>().ok().and_then(|number| usize::try_from(number).ok())
        });
        let size = self.parsed("paginacao.itensPorPagina", "must be an integer from 1 to 1000", |text| {
            text.parse().ok().filter(|size| (1..=MAX_PAGE_SIZE).contains(size))
        });
        Page { number: number.unwrap_or(0), size: size.unwrap_or(DEFAULT_PAGE_SIZE) }
    }

    /// Returns `inicio` and `fim`. Both are required: without one of them, returns `None` and adds a violation.
    pub fn period(&mut self) -> Option<Period> {
        for name in ["inicio", "fim"] {
            if !self.values.contains_key(name) {
                self.findings.add(name, "is required", "");
            }
        }
        let (from, to) = self.bounds();
        Some(Period { from: from?, to: to? })
    }

    /// Returns `inicio` and `fim`, both optional. A `fim` before `inicio` is a violation.
    pub fn bounds(&mut self) -> (Option<Given>, Option<Given>) {
        let instant = |text: &str| rfc3339(text).map(|at| (at, text.to_owned()));
        let from = self.parsed("inicio", "must be an RFC 3339 date-time", instant);
        let to = self.parsed("fim", "must be an RFC 3339 date-time", instant);
        if let (Some((from, _)), Some((to, text))) = (&from, &to)
            && to < from
        {
            self.findings.add("fim", "is before inicio", text);
        }
        (from, to)
    }

    /// Returns the optional parameter `name`, whose value must be `true` or `false`.
    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        self.parsed(name, "must be true or false", |text| text.parse().ok())
    }

    /// Returns `cpf` and `cnpj`, both optional. Both together are a violation.
    pub fn documents(&mut self) -> (Option<String>, Option<String>) {
        let is = |length: usize, valid: fn(char) -> bool| {
            move |text: &str| (text.len() == length && text.chars().all(valid)).then(|| text.to_owned())
        };
        let cpf = self.parsed("cpf", "must have 11 digits", is(11, |c| c.is_ascii_digit()));
        let cnpj = self.parsed(
            "cnpj",
            "must have 14 digits or capital letters",
            is(14, |c| c.is_ascii_digit() || c.is_ascii_uppercase()),
        );
        if cpf.is_some() && cnpj.is_some() {
            self.findings.add("cpf", "excludes cnpj", "");
        }
        (cpf, cnpj)
    }

    /// Returns the optional parameter `name`, parsed by `parse`. If `parse` returns `None`, adds a violation with `reason`.
    pub fn parsed<T>(&mut self, name: &str, reason: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.values.remove(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.findings.add(name, reason, &text);
        }
        value
    }

    /// Returns `value` if the query has no violation. Every parameter that was not parsed is unknown, which is a violation. Callers pass
    /// `None` only if a violation was added.
    ///
    /// # Errors
    /// A [`Problem`] of `kind` with the violations.
    pub fn conclude<T>(mut self, kind: Kind, value: Option<T>) -> Result<T, Problem> {
        for (name, value) in std::mem::take(&mut self.values) {
            self.findings.add(name, "is not a known parameter", &value);
        }
        self.findings.conclude(kind, value)
    }
}

/// Parses an instant of RFC 3339. The shape is checked first, because the time library also accepts other forms of ISO 8601.
fn rfc3339(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() >= 20
        && bytes.get(10).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'T'))
        && bytes.get(13) == Some(&b':')
        && bytes.get(16) == Some(&b':')
        && !text.contains('[');
    shaped.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_of_other_format_is_refused() {
        let cases = [
            ("2026-01-02T03:04:05Z", true),
            ("2026-01-02T03:04:05.678Z", true),
            ("2026-01-02T03:04:05-03:00", true),
            ("2026-01-02 03:04:05Z", false),
            ("2026-01-02T03:04:05", false),
            ("2026-01-02", false),
            ("20260102T030405Z", false),
            ("2026-13-02T03:04:05Z", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(rfc3339(text).is_some(), expected, "{text:?}");
        }
    }

    #[test]
    fn pages_count_from_zero_and_empty_list_has_one() {
        let cases = [(0, 2, 5, vec![0, 1], 3), (2, 2, 5, vec![4], 3), (3, 2, 5, vec![], 3), (0, 2, 0, vec![], 1)];
        for (number, size, total, expected, pages) in cases {
            let (items, paging) = Page { number, size }.cut(0..total);
            assert_eq!(items, expected);
            assert_eq!(paging.quantidade_de_paginas, pages);
            assert_eq!(paging.quantidade_total_de_itens, total);
        }
    }
}
