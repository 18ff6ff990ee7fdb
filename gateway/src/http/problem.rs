//! Errors as clients see them: problem documents (RFC 9457).

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use wire::Reason;

use crate::view::OrderView;

/// The kinds of problems; `docs/gateway.md` has them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    BadRequest,
    Unauthorised,
    Forbidden,
    SignatureRequired,
    NotFound,
    MethodNotAllowed,
    TooLarge,
    Timeout,
    RateLimited,
    OrderRefused,
    OrderEnded,
    SessionEnded,
    ClientIdUsed,
    UnknownOutcome,
    NotSent,
    EntryRefused,
    AccountsNotKept,
    Internal,
}

impl Kind {
    pub(crate) const ALL: [Kind; 18] = [
        Kind::BadRequest,
        Kind::Unauthorised,
        Kind::Forbidden,
        Kind::SignatureRequired,
        Kind::NotFound,
        Kind::MethodNotAllowed,
        Kind::TooLarge,
        Kind::Timeout,
        Kind::RateLimited,
        Kind::OrderRefused,
        Kind::OrderEnded,
        Kind::SessionEnded,
        Kind::ClientIdUsed,
        Kind::UnknownOutcome,
        Kind::NotSent,
        Kind::EntryRefused,
        Kind::AccountsNotKept,
        Kind::Internal,
    ];

    /// The last part of its type, its title, its status.
    pub(crate) fn parts(self) -> (&'static str, &'static str, StatusCode) {
        match self {
            Kind::BadRequest => ("bad-request", "The request cannot be read", StatusCode::BAD_REQUEST),
            Kind::Unauthorised => ("unauthorised", "No good token", StatusCode::UNAUTHORIZED),
            Kind::Forbidden => ("forbidden", "This token may not", StatusCode::FORBIDDEN),
            Kind::SignatureRequired => (
                "signature-required",
                "From off the host, order entry needs a client certificate or a signed request",
                StatusCode::FORBIDDEN,
            ),
            Kind::NotFound => {
                ("not-found", "There is no such thing, or not for this token", StatusCode::NOT_FOUND)
            }
            Kind::MethodNotAllowed => {
                ("method-not-allowed", "Not by this method", StatusCode::METHOD_NOT_ALLOWED)
            }
            Kind::TooLarge => ("too-large", "The body is too large", StatusCode::PAYLOAD_TOO_LARGE),
            Kind::Timeout => ("timeout", "The body did not come in time", StatusCode::REQUEST_TIMEOUT),
            Kind::RateLimited => ("rate-limited", "Too many requests", StatusCode::TOO_MANY_REQUESTS),
            Kind::OrderRefused => {
                ("order-refused", "td or the market refused it", StatusCode::UNPROCESSABLE_ENTITY)
            }
            Kind::OrderEnded => ("order-ended", "The order has ended", StatusCode::CONFLICT),
            Kind::SessionEnded => ("session-ended", "The session has ended", StatusCode::CONFLICT),
            Kind::ClientIdUsed => {
                ("client-id-used", "This client id belongs to an order that differs", StatusCode::CONFLICT)
            }
            Kind::UnknownOutcome => {
                ("unknown-outcome", "What became of it is not known", StatusCode::GATEWAY_TIMEOUT)
            }
            Kind::NotSent => ("not-sent", "Nothing was sent", StatusCode::SERVICE_UNAVAILABLE),
            Kind::EntryRefused => ("entry-refused", "td refused the entry", StatusCode::UNPROCESSABLE_ENTITY),
            Kind::AccountsNotKept => {
                ("accounts-not-kept", "This platform keeps no accounts", StatusCode::NOT_FOUND)
            }
            Kind::Internal => ("internal", "Something here does not work", StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

/// A problem document.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    #[serde(skip)]
    #[schema(ignore)]
    of: Kind,
    /// Which kind, as in `/docs#order-refused`.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: String,
    /// The kind in words.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What happened, and what to do.
    detail: String,
    /// td's or the market's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_code: Option<u8>,
    /// The order that it is about, as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderView>,
    /// Seconds until another try makes sense.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    /// The methods that the route is there for.
    #[serde(skip)]
    #[schema(ignore)]
    allowed: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Problem {
        let (name, title, status) = kind.parts();
        Problem {
            of: kind,
            kind: format!("/docs#{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            reason: None,
            reason_code: None,
            order: None,
            retry_after: None,
            allowed: None,
        }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(Kind::BadRequest, detail)
    }

    pub(crate) fn because(mut self, reason: Reason) -> Problem {
        (self.reason, self.reason_code) = (Some(reason.as_str()), Some(reason as u8));
        self
    }

    pub(crate) fn of(mut self, order: OrderView) -> Problem {
        self.order = Some(order);
        self
    }

    pub(crate) fn after(mut self, seconds: u64) -> Problem {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn allowing(mut self, methods: &'static str) -> Problem {
        self.allowed = Some(methods);
        self
    }

    /// What happened, and what to do.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn kind(&self) -> Kind {
        self.of
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn respond(&self) -> Response<Full<Bytes>> {
        let body = serde_json::to_vec(self).unwrap_or_default();
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(hyper::header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(methods) = self.allowed {
            headers.insert(hyper::header::ALLOW, HeaderValue::from_static(methods));
        }
        if self.status == 401 {
            headers.insert(hyper::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
