//! The query of a page's URL: the filters and the cursor of a list.

use std::convert::Infallible;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use cais_domain::ids::{Id, IdKind};
use url::form_urlencoded;

use crate::failure::Failure;

/// The parameter with the id of the previous page's last row, after which the list continues.
pub(crate) const STARTING_AFTER: &str = "starting_after";

/// The parameters of a request.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Returns the value of a parameter, without blanks around it; `None` if the value is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// Returns a parameter that is an id.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for a malformed id.
    pub(crate) fn id<K: IdKind>(&self, name: &str) -> Result<Option<Id<K>>, Failure> {
        self.get(name).map(|text| Id::parse(text).map_err(|_| Failure::NotFound)).transpose()
    }
}

impl FromRequest for Query {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect())))
    }
}

/// Returns a path with these parameters. Parameters with an empty value are left out.
pub(crate) fn path_with(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}
