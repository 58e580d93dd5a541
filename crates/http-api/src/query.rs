//! Query parameters, as strict as bodies: only known parameters, each at most once.

use cais_strict_json::Issues;

use super::percent;

/// The known parameters of a request, each with its value if present.
pub struct Query {
    values: Vec<(&'static str, Option<String>)>,
}

impl Query {
    /// Reads a query string. Unknown, repeated and malformed parameters are added to `issues` under their names.
    #[must_use]
    pub fn read(raw: &str, known: &[&'static str], issues: &Issues) -> Self {
        let mut values: Vec<(&'static str, Option<String>)> = known.iter().map(|name| (*name, None)).collect();
        for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (percent::decode_form(name), percent::decode_form(value)) else {
                issues.add(name, "is not validly percent-encoded UTF-8");
                continue;
            };
            match values.iter_mut().find(|(known, _)| *known == name) {
                Some((_, slot @ None)) => *slot = Some(value),
                Some((_, Some(_))) => issues.add(&name, "is given more than once"),
                None => issues.add(&name, "is not a known parameter"),
            }
        }
        Self { values }
    }

    /// Returns the parameter's value, if present.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(raw: &str) -> Vec<String> {
        let issues = Issues::default();
        let _query = Query::read(raw, &["limit", "starting_after"], &issues);
        issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
    }

    #[test]
    fn values_are_decoded_once() {
        let issues = Issues::default();
        let query = Query::read("&limit=5%30&", &["limit", "starting_after"], &issues);
        assert!(issues.is_empty());
        assert_eq!((query.get("limit"), query.get("starting_after")), (Some("50"), None));
    }

    #[test]
    fn malformed_queries_are_reported() {
        assert_eq!(problems("limit=1&limit=2"), ["limit is given more than once"]);
        assert_eq!(problems("offset=1&page"), ["offset is not a known parameter", "page is not a known parameter"]);
        assert_eq!(problems("limit=%zz"), ["limit is not validly percent-encoded UTF-8"]);
    }
}
