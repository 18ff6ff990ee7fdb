//! Answers: JSON, texts, and the one that costs nothing.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Shared;
use super::problem::{Kind, Problem};
use crate::core::ask::{Ask, Reply};

/// Every answer.
pub(crate) type Answer = Response<Full<Bytes>>;
/// An answer, or the problem that stands in its place.
pub(crate) type Answered = Result<Answer, Problem>;

pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Answered {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| Problem::new(Kind::Internal, format!("the answer cannot be written: {error}")))?;
    let mut answer = fixed(Bytes::from(bytes), "application/json");
    *answer.status_mut() = status;
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

pub(crate) fn fixed(body: Bytes, content_type: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// The body of a request, bounded in size and time.
pub(crate) async fn read(shared: &Shared, request: Request<Incoming>) -> Result<Bytes, Problem> {
    let most = usize::try_from(shared.config.body.0).unwrap_or(usize::MAX);
    let body = Limited::new(request.into_body(), most).collect();
    match tokio::time::timeout(shared.config.head, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Problem::new(Kind::TooLarge, format!("the body has more than {most} bytes (gateway.body)")))
        }
        Ok(Err(error)) => Err(Problem::bad(format!("the body broke off: {error}"))),
        Err(_) => Err(Problem::new(Kind::Timeout, "the body did not come within gateway.head")),
    }
}

/// What a body says.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // serde would take an array for an object, its fields in their order.
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Problem::bad("the body is no JSON object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| Problem::bad(format!("the body is not as documented: {error}")))
}

/// Asks the core. What cannot be known is called so.
pub(crate) async fn ask<T>(shared: &Shared, make: impl FnOnce(Reply<T>) -> Ask) -> Result<T, Problem> {
    let (reply, answer) = tokio::sync::oneshot::channel();
    if !shared.door.put(make(reply)) {
        return Err(Problem::new(Kind::NotSent, "the gateway is behind: try again").after(1));
    }
    match tokio::time::timeout(shared.patience(), answer).await {
        Ok(Ok(answer)) => Ok(answer),
        _ => Err(Problem::new(
            Kind::UnknownOutcome,
            "there was no answer in time; ask for the order by its client_order_id, or send the same again with it",
        )),
    }
}
