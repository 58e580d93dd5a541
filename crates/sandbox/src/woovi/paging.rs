//! Query parameters of lists in Woovi's API (`start`, `end`, `skip`, `limit`), and the `pageInfo` of the answers.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::error::WooviError;

/// The default page size. Woovi documents it for payments.
const DEFAULT_LIMIT: usize = 100;

/// The largest page size. Woovi documents no limit.
const MAX_LIMIT: usize = 100;

/// The largest `skip`. Woovi documents that a limit exists, but not its value.
const MAX_SKIP: usize = 10_000;

/// The unread parameters of a query. Each read removes the parameter.
#[derive(Debug)]
pub struct Query(BTreeMap<String, String>);

/// A period and a page of a list.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    start: Timestamp,
    end: Timestamp,
    skip: usize,
    limit: usize,
}

impl Query {
    /// Reads the query of a request.
    ///
    /// # Errors
    /// 400 for a query that cannot be read.
    pub fn of(request: &HttpRequest) -> Result<Self, WooviError> {
        let pairs = web::Query::<BTreeMap<String, String>>::from_query(request.query_string());
        Ok(Self(pairs.map_err(|error| WooviError::refused(error.to_string()))?.into_inner()))
    }

    /// Reads a parameter; `None` if absent.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Reads an optional boolean; `false` if absent.
    ///
    /// # Errors
    /// 400 for another value.
    pub fn flag(&mut self, name: &str) -> Result<bool, WooviError> {
        self.parsed(name, "true or false", |text| text.parse().ok()).map(Option::unwrap_or_default)
    }

    /// Reads `start`, `end`, `skip` and `limit`, all optional. A `limit` above 100 counts as 100.
    ///
    /// # Errors
    /// 400 for values that are not instants or numbers, a `skip` above 10,000, and a `limit` of 0.
    pub fn page(&mut self) -> Result<Page, WooviError> {
        let instant = |text: &str| text.parse::<Timestamp>().ok();
        let start = self.parsed("start", "a date of RFC 3339", instant)?;
        let end = self.parsed("end", "a date of RFC 3339", instant)?;
        let skip =
            self.parsed("skip", "a number from 0 to 10000", |text| text.parse().ok().filter(|skip| *skip <= MAX_SKIP))?;
        let limit = self.parsed("limit", "a number above 0", |text| text.parse().ok().filter(|limit| *limit > 0))?;
        Ok(Page {
            start: start.unwrap_or(Timestamp::MIN),
            end: end.unwrap_or(Timestamp::MAX),
            skip: skip.unwrap_or(0),
            limit: limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT),
        })
    }

    /// Refuses the parameters that were not read.
    ///
    /// # Errors
    /// 400 with the name of the first unread parameter.
    pub fn conclude(self) -> Result<(), WooviError> {
        match self.0.into_keys().next() {
            Some(name) => Err(WooviError::refused(format!("{name} is not a parameter that the sandbox serves"))),
            None => Ok(()),
        }
    }

    fn parsed<T>(
        &mut self,
        name: &str,
        form: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, WooviError> {
        let Some(text) = self.take(name) else { return Ok(None) };
        let value = parse(&text);
        value.map(Some).ok_or_else(|| WooviError::refused(format!("{name} must be {form}")))
    }
}

impl Page {
    /// Returns whether the instant is in the page's period. The period includes both ends.
    #[must_use]
    pub fn has(self, at: Timestamp) -> bool {
        (self.start..=self.end).contains(&at)
    }

    /// Returns the rows of this page, and its `pageInfo`. `rows` must be all rows of the period, in the list's order.
    pub fn cut<T>(self, rows: impl Iterator<Item = T>) -> (Vec<T>, Value) {
        let mut rows = rows.skip(self.skip);
        let page: Vec<T> = rows.by_ref().take(self.limit).collect();
        let info = json!({
            "skip": self.skip,
            "limit": self.limit,
            "hasPreviousPage": self.skip > 0,
            "hasNextPage": rows.next().is_some(),
        });
        (page, info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_info_names_neighbors() {
        let page = |skip| Page { start: Timestamp::MIN, end: Timestamp::MAX, skip, limit: 2 };
        let flags = |info: &Value| (info["hasPreviousPage"] == true, info["hasNextPage"] == true);
        let cases = [(0, vec![0, 1], (false, true)), (2, vec![2], (true, false)), (9, vec![], (true, false))];
        for (skip, expected, neighbors) in cases {
            let (rows, info) = page(skip).cut(0..3);
            assert_eq!((rows, flags(&info)), (expected, neighbors), "{skip}");
        }
    }
}
