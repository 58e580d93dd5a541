//! Every error of the API: one table of codes, and the envelope that carries them.
//!
//! A new code is one line in the table, with its status, its default text and `true` if a retry may help.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use cais_domain::ids::RequestId;
use cais_domain::merchant::account::NotPermitted;
use cais_ports::QueryError;
use cais_strict_json::Issue;
use cais_use_cases::external_id_conflict::ExternalIdConflict;
use cais_use_cases::store_error::StoreError;
use cais_use_cases::upstream_order::CreateError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::describe::failures::Code;
use crate::resources::values::to_json;

/// Seconds until a caller may try an acquirer again: the time for which the breaker stays open.
pub const ACQUIRER_RETRY_AFTER_S: u32 = 10;
/// Seconds until a caller may retry after a failure of the store: a restart or failover of the database is usually over by then.
pub const STORE_RETRY_AFTER_S: u32 = 2;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $status:ident $retryable:literal $message:literal;)*) => {
        /// The code of an error, by which callers distinguish cases.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// Every code, by status.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Codes of requests whose head cannot be read. Such requests belong to no route.
            pub const WITHOUT_ROUTE: &'static [Self] = &[Self::MalformedRequest, Self::HeadersTooLarge];

            /// Returns the name of the code in responses.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the HTTP status of the code.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            /// Returns `true` if the same request may succeed later.
            #[must_use]
            pub const fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)* }
            }

            /// Returns the default message.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }

        /// Each code as a type, for the list of an operation's errors in the `OpenAPI` document.
        pub mod code {
            $($(#[$doc])* #[derive(Debug)] pub struct $variant;

            impl crate::describe::failures::Codes for $variant {
                fn codes() -> Vec<super::ErrorCode> {
                    vec![super::ErrorCode::$variant]
                }
            })*
        }
    };
}

error_codes! {
    /// The body, a query parameter or an id in the path breaks its rules; `issues` lists all problems.
    ValidationError "VALIDATION_ERROR" BAD_REQUEST false "The request is not valid.";
    /// The head of a request is not HTTP.
    MalformedRequest "malformed_request" BAD_REQUEST false "The request is not valid HTTP.";
    /// An operation that requires an Idempotency-Key was sent without one.
    IdempotencyKeyRequired "idempotency_key_required" BAD_REQUEST false "The header Idempotency-Key is required.";
    /// The Idempotency-Key is not 8 to 255 visible ASCII characters, or was sent more than once.
    InvalidIdempotencyKey "invalid_idempotency_key" BAD_REQUEST false "The Idempotency-Key must have 8 to 255 visible ASCII characters.";
    /// `postback_url` is not the URL of an active webhook endpoint of the account.
    PostbackUrlNotRegistered "postback_url_not_registered" BAD_REQUEST false "The postback_url is not a registered, active webhook endpoint of the account.";
    /// No API key was sent.
    MissingApiKey "missing_api_key" UNAUTHORIZED false "An API key is required: Authorization: Bearer <key>, or x-api-key: <key>.";
    /// The API key is unknown, malformed, revoked, expired or used from an address that it does not allow; or two different keys were sent.
    InvalidApiKey "invalid_api_key" UNAUTHORIZED false "The API key is not valid. Send it as Authorization: Bearer <key>, or as x-api-key: <key>.";
    /// The API key does not have the scope of the operation.
    InsufficientScope "insufficient_scope" FORBIDDEN false "The API key does not have the required scope.";
    /// An operator suspended the account: it may read but not write.
    AccountSuspended "account_suspended" FORBIDDEN false "The account is suspended: it can read but not write.";
    /// KYC is pending or was rejected.
    KycNotApproved "kyc_not_approved" FORBIDDEN false "The account has no approved KYC: an operator of the service approves it.";
    /// The feature is not enabled for the account, or no crypto processor is configured.
    FeatureDisabled "feature_disabled" FORBIDDEN false "The feature is not enabled for the account: an operator of the service enables it.";
    /// The split is not enabled for the account.
    SplitDisabled "split_disabled" FORBIDDEN false "The split is not enabled for the account: an operator of the service enables it.";
    /// The account has no such resource, or the path does not exist.
    NotFound "not_found" NOT_FOUND false "The resource does not exist.";
    /// The path does not have this method; the header `Allow` lists its methods.
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED false "The method is not allowed on this path.";
    /// The head or the body of a request did not arrive in time.
    RequestTimeout "request_timeout" REQUEST_TIMEOUT true "The request did not arrive in time.";
    /// A resource with this `external_id` exists, but differs in the fields that the message names.
    ExternalIdConflict "EXTERNAL_ID_CONFLICT" CONFLICT false "The external_id already exists with different data.";
    /// The Idempotency-Key was used for another request.
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" CONFLICT false "The Idempotency-Key was already used for a different request: use a new key for a new request.";
    /// The first request with the key is in progress.
    IdempotencyKeyInProgress "idempotency_key_in_progress" CONFLICT true "The first request with this Idempotency-Key is still being processed: repeat it with the same key.";
    /// A creation with the `external_id` is in progress.
    ExternalIdInProgress "external_id_in_progress" CONFLICT true "A creation with this external_id is still in progress: fetch it by the same external_id instead of creating another one.";
    /// The resource's state does not permit the operation; the message names the state.
    InvalidState "invalid_state" CONFLICT false "The state of the resource does not allow this.";
    /// The body is larger than the limit.
    PayloadTooLarge "payload_too_large" PAYLOAD_TOO_LARGE false "The body is too large.";
    /// The declared type of the body is not JSON, or the body has a content encoding.
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE false "The body must be sent as application/json, without a content encoding.";
    /// `split_rule_id` was sent.
    SplitNotAvailable "split_not_available" UNPROCESSABLE_ENTITY false "split_rule_id is not supported: name the recipients in split.";
    /// The amount exceeds the account's limit.
    TransactionLimitExceeded "transaction_limit_exceeded" UNPROCESSABLE_ENTITY false "The amount exceeds the account's limit per transaction.";
    /// The available balance is lower than the amount and its fee.
    InsufficientBalance "insufficient_balance" UNPROCESSABLE_ENTITY false "The available balance is lower than the amount and its fee.";
    /// A recipient of the split is not an active account with approved KYC, or is the creator; `issues` names it.
    SplitRecipientNotEligible "split_recipient_not_eligible" UNPROCESSABLE_ENTITY false "A recipient of the split is not eligible.";
    /// The amount is below the current minimum of the currency; the message names the minimum.
    AmountBelowMinimum "amount_below_minimum" UNPROCESSABLE_ENTITY false "The amount is below the current minimum of the currency.";
    /// The currency is not supported; the message lists the supported ones.
    UnsupportedCurrency "unsupported_currency" UNPROCESSABLE_ENTITY false "The currency is not supported.";
    /// The address is not valid for the currency, or the processor cannot send to it.
    InvalidAddress "invalid_address" UNPROCESSABLE_ENTITY false "The address is not valid for the currency.";
    /// The quote was used, or its time is over.
    QuoteExpired "quote_expired" UNPROCESSABLE_ENTITY false "The quote has expired or was used: request another.";
    /// The refund exceeds the amount that can still be refunded.
    RefundExceedsAmount "refund_exceeds_amount" UNPROCESSABLE_ENTITY false "The refund exceeds the rest of the charge.";
    /// An infraction on the charge is open or under review.
    InfractionOpen "infraction_open" UNPROCESSABLE_ENTITY false "An infraction on the charge is not resolved yet.";
    /// The account has reached a limit on the number of its resources.
    LimitReached "limit_reached" UNPROCESSABLE_ENTITY false "The account has reached the limit of these resources.";
    /// The deadline of the operation has passed.
    DeadlinePassed "deadline_passed" UNPROCESSABLE_ENTITY false "The deadline has passed.";
    /// The API key has used all requests of its window, or another limit is reached: failed authentications of an
    /// address, concurrent files of an account, or waiting test deliveries and resends of an endpoint.
    RateLimitExceeded "rate_limit_exceeded" TOO_MANY_REQUESTS true "Too many requests with this API key.";
    /// The head of a request is larger than the limit.
    HeadersTooLarge "headers_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE false "The request's headers are too large.";
    /// A bug or a damaged store.
    InternalError "internal_error" INTERNAL_SERVER_ERROR true "The service failed to process the request.";
    /// The path is reserved for boleto or card.
    NotImplemented "not_implemented" NOT_IMPLEMENTED false "This capability is reserved and not available.";
    /// All acquirers, or the crypto processor, rejected the request or are unavailable.
    AcquirerUnavailable "acquirer_unavailable" BAD_GATEWAY true "No acquirer is available at the moment.";
    /// The store or another dependency is unavailable, or the outcome is still unknown.
    ServiceUnavailable "service_unavailable" SERVICE_UNAVAILABLE true "The service is temporarily unavailable.";
}

/// An error of the API. Every failed request ends with such an error, and the middleware renders it with the request's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The code.
    pub code: ErrorCode,
    /// The message for people, which never contains the cause.
    pub message: Cow<'static, str>,
    /// Every problem of the request.
    pub issues: Vec<Issue>,
    /// Seconds until a retry can succeed, if known.
    pub retry_after_s: Option<u32>,
    /// The methods of the path, if the request's method is not among them.
    pub allow: Option<String>,
    /// The cause, for the log only.
    pub cause: Option<String>,
    /// `true` for an expected failure, which is not logged as an error.
    pub is_expected: bool,
}

impl ApiError {
    /// Returns an error with the code's default message.
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self {
            code,
            message: Cow::Borrowed(code.message()),
            issues: Vec::new(),
            retry_after_s: if matches!(code, ErrorCode::AcquirerUnavailable) {
                Some(ACQUIRER_RETRY_AFTER_S)
            } else {
                None
            },
            allow: None,
            cause: None,
            is_expected: false,
        }
    }

    /// Returns the error for invalid requests. The message repeats a single problem, or counts several.
    #[must_use]
    pub fn invalid(issues: Vec<Issue>) -> Self {
        let error = Self::new(ErrorCode::ValidationError);
        let error = match issues.as_slice() {
            [] => error,
            [only] if only.path.is_empty() => {
                error.with_message(format!("The request is not valid: the body {}.", only.message))
            }
            [only] => error.with_message(format!("The request is not valid: {} {}.", only.path, only.message)),
            all => error.with_message(format!("The request is not valid: {} problems, listed in issues.", all.len())),
        };
        Self { issues, ..error }
    }

    /// Returns the error for a bug or a damaged store, with the cause for the log.
    #[must_use]
    pub fn internal(cause: impl Into<String>) -> Self {
        Self::new(ErrorCode::InternalError).with_cause(cause)
    }

    /// Returns the error with another message.
    #[must_use]
    pub fn with_message(self, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Returns the error with the seconds until a retry can succeed.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// Returns the error with a cause for the log.
    #[must_use]
    pub fn with_cause(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Returns the response body: the error envelope as JSON.
    #[must_use]
    pub fn body(&self, request: RequestId) -> Vec<u8> {
        let issues = self.issues.iter().map(|issue| IssueBody { path: &issue.path, message: &issue.message });
        to_json(&ErrorBody {
            success: false,
            request_id: request.to_string(),
            error: ErrorDetail {
                code: self.code.name(),
                message: &self.message,
                retryable: self.code.is_retryable(),
                issues: (!self.issues.is_empty()).then(|| issues.collect()),
                retry_after: self.retry_after_s,
            },
        })
    }
}

/// The body of every error response.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody<'a> {
    /// Always `false`.
    pub success: bool,
    /// The request's id, also in the header `x-request-id`.
    pub request_id: String,
    /// The error.
    pub error: ErrorDetail<'a>,
}

/// The details of an error.
#[derive(Serialize, ToSchema)]
pub struct ErrorDetail<'a> {
    /// The code of the error, for programs.
    #[schema(value_type = Code)]
    pub code: &'static str,
    /// The message, for people.
    pub message: &'a str,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// Every problem of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub issues: Option<Vec<IssueBody<'a>>>,
    /// Seconds until a retry can succeed; equal to the header `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after: Option<u32>,
}

/// A problem of the request.
#[derive(Serialize, ToSchema)]
#[schema(as = Issue)]
pub struct IssueBody<'a> {
    /// Position of the problem: a field, a parameter, a header, or empty for the body as a whole.
    pub path: &'a str,
    /// The rule that the request breaks.
    pub message: &'a str,
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    /// Returns a response with the status alone. The middleware adds the envelope, because only the middleware has the request's id.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.code.status())
    }
}

impl From<Vec<Issue>> for ApiError {
    fn from(issues: Vec<Issue>) -> Self {
        Self::invalid(issues)
    }
}

impl From<NotPermitted> for ApiError {
    fn from(reason: NotPermitted) -> Self {
        let code = match reason {
            NotPermitted::Suspended => ErrorCode::AccountSuspended,
            NotPermitted::KycNotApproved => ErrorCode::KycNotApproved,
            NotPermitted::FeatureDisabled(_) => ErrorCode::FeatureDisabled,
        };
        Self::new(code).with_message(format!("Not permitted: {reason}."))
    }
}

impl From<ExternalIdConflict> for ApiError {
    fn from(ExternalIdConflict { owner, fields }: ExternalIdConflict) -> Self {
        let fields = fields.join(" and another ");
        Self::new(ErrorCode::ExternalIdConflict)
            .with_message(format!("The external_id belongs to {owner}, which has another {fields}."))
    }
}

/// The errors of every creation under an idempotency key. Errors of one operation are mapped beside its handler.
impl<R: Into<Self>> From<CreateError<R>> for ApiError {
    fn from(error: CreateError<R>) -> Self {
        match error {
            CreateError::NotPermitted(reason) => reason.into(),
            CreateError::KeyConflict => Self::new(ErrorCode::IdempotencyConflict),
            CreateError::KeyInProgress { retry_after_s } => {
                Self::new(ErrorCode::IdempotencyKeyInProgress).retry_after(retry_after_s)
            }
            CreateError::Refused(refusal) => refusal.into(),
            CreateError::ExternalIdConflict(conflict) => conflict.into(),
            CreateError::ExternalIdInProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            CreateError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            CreateError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            CreateError::Internal(cause) => Self::internal(cause),
        }
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Unavailable(_) => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S).with_cause(error.to_string())
            }
            QueryError::Corrupt(_) => Self::internal(error.to_string()),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S).with_cause(error.to_string())
            }
            StoreError::Internal(cause) => Self::internal(cause),
        }
    }
}

#[cfg(test)]
mod tests;
