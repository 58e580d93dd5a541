//! Finds the route of a path. No framework is used, because the order of checks is specified.

use super::{Access, Listener, ROUTES, Route};

/// The result of a search for a path.
#[derive(Debug, Clone)]
pub enum Found<'p> {
    /// A route, and the segments that its pattern names, in order and as they were sent.
    Route {
        /// Its place in [`ROUTES`].
        index: usize,
        /// The route.
        route: &'static Route,
        /// The values of the names in the pattern.
        params: Params<'p>,
    },
    /// Other methods.
    OtherMethods {
        /// Those it has.
        allow: String,
    },
    /// Nothing.
    Nothing,
}

/// The segments that a pattern names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Params<'p> {
    first: &'p str,
    second: &'p str,
}

impl<'p> Params<'p> {
    /// Returns the first named segment; empty without one.
    #[must_use]
    pub const fn first(&self) -> &'p str {
        self.first
    }

    /// Returns the second named segment; empty without one.
    #[must_use]
    pub const fn second(&self) -> &'p str {
        self.second
    }

    fn push(&mut self, value: &'p str) {
        let slot = if self.first.is_empty() { &mut self.first } else { &mut self.second };
        *slot = value;
    }
}

/// The routes of one listener.
#[derive(Debug, Clone)]
pub struct Router {
    routes: Vec<(usize, &'static Route)>,
}

impl Router {
    /// Returns the routes of the public address.
    #[must_use]
    pub fn public(with_sandbox: bool) -> Self {
        Self::of(|listener| match listener {
            Listener::Public | Listener::Both => true,
            Listener::PublicWithSandbox => with_sandbox,
            Listener::Admin => false,
        })
    }

    /// Returns the routes of the admin address.
    #[must_use]
    pub fn admin() -> Self {
        Self::of(|listener| matches!(listener, Listener::Admin | Listener::Both))
    }

    fn of(serves: impl Fn(Listener) -> bool) -> Self {
        Self { routes: ROUTES.iter().enumerate().filter(|(_, route)| serves(route.listener)).collect() }
    }

    /// Returns the route of `path` and `method`. The path is split at its slashes before escapes are decoded.
    #[must_use]
    pub fn find<'p>(&self, method: &str, path: &'p str) -> Found<'p> {
        let mut allow = String::new();
        for (index, route) in &self.routes {
            let Some(params) = params_of(route.pattern, path) else { continue };
            if route.verb.matches(method) {
                return Found::Route { index: *index, route, params };
            }
            if route.access != Access::SecretPath {
                allow.push_str(if allow.is_empty() { "" } else { ", " });
                allow.push_str(route.verb.allowed());
            }
        }
        if allow.is_empty() { Found::Nothing } else { Found::OtherMethods { allow } }
    }
}

/// Returns `true` if a path needs a key even if nothing is served there. Callers without a key cannot learn what
/// exists.
#[must_use]
pub fn needs_key(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && !ROUTES.iter().any(|route| route.access == Access::Open && route.pattern == path)
}

/// Returns the named segments of `path`, if it matches `pattern`.
fn params_of<'p>(pattern: &str, path: &'p str) -> Option<Params<'p>> {
    let mut params = Params::default();
    let (mut pattern, mut path) = (pattern, path);
    loop {
        // Up to the next name both must agree letter by letter.
        let (literal, rest) = pattern.split_once('{').unwrap_or((pattern, ""));
        path = path.strip_prefix(literal)?;
        if rest.is_empty() {
            return path.is_empty().then_some(params);
        }
        let (name, after) = rest.split_once('}')?;
        if name.starts_with('*') {
            params.push(path);
            return Some(params);
        }
        let end = path.find('/').unwrap_or(path.len());
        let (segment, left) = path.split_at_checked(end)?;
        if segment.is_empty() {
            return None;
        }
        params.push(segment);
        (pattern, path) = (after, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(method: &str, path: &str) -> String {
        match Router::public(false).find(method, path) {
            Found::Route { route, params, .. } => format!("{} {} {}", route.pattern, params.first(), params.second()),
            Found::OtherMethods { allow } => format!("allow {allow}"),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn paths_match_their_routes() {
        for (method, path, expected) in [
            ("GET", "/v1/charges", "/v1/charges  "),
            ("POST", "/v1/charges", "/v1/charges  "),
            ("HEAD", "/v1/charges/ext:a%2Fb", "/v1/charges/{id} ext:a%2Fb "),
            ("DELETE", "/v1/charges", "allow POST, GET, HEAD"),
            ("GET", "/v1/charges/", "nothing"),
            ("GET", "/v1/charges/a/b", "nothing"),
            ("GET", "/v1/chargesx", "nothing"),
            ("POST", "/v1/charges/a/cancel", "/v1/charges/{id}/cancel a "),
            ("GET", "/v1/charges/a/cancel", "allow POST"),
            ("PATCH", "/v1/boletos", "/v1/boletos  "),
            ("PATCH", "/v1/webhook-endpoints/a", "/v1/webhook-endpoints/{id} a "),
            ("PUT", "/v1/webhook-endpoints/a", "allow GET, HEAD, PATCH, DELETE"),
            (
                "POST",
                "/v1/webhook-endpoints/a/deliveries/b/resend",
                "/v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend a b",
            ),
            ("DELETE", "/v1/events", "allow GET, HEAD"),
            ("GET", "/v1/cards/a/b", "/v1/cards/{*path} a/b "),
            ("POST", "/v1/sandbox/charges/a/pay", "nothing"),
            ("GET", "/metrics", "nothing"),
            ("POST", "/callbacks/main/t", "/callbacks/{acquirer}/{token} main t"),
            ("POST", "/callbacks/main/t/pix", "/callbacks/{acquirer}/{token}/pix main t"),
            ("GET", "/callbacks/main/t", "nothing"),
        ] {
            assert_eq!(at(method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn paths_below_v1_require_a_key_except_the_document() {
        for (path, expected) in [
            ("/v1", true),
            ("/v1/nowhere", true),
            ("/v1/openapi.json", false),
            ("/v1/openapi.json/", true),
            ("/v10", false),
            ("/healthz", false),
            ("/", false),
        ] {
            assert_eq!(needs_key(path), expected, "{path}");
        }
    }
}
