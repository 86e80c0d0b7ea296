//! A request of DynamoDB's protocol.

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;

/// A request and its operation. This type has no `Debug`, because a request contains items and the signature.
pub(super) struct Request {
    pub(super) operation: String,
    pub(super) http: HttpRequest,
}

impl Request {
    pub(super) fn json(&self) -> Value {
        self.http.body().bytes().map_or(Value::Null, json)
    }

    /// Returns the same operation with another body.
    pub(super) fn with(mut self, body: &Value) -> Self {
        let body = body.to_string();
        self.http.headers_mut().insert("content-length", body.len().to_string());
        *self.http.body_mut() = SdkBody::from(body);
        self
    }

    /// Returns a copy. Never `None` for a request to DynamoDB, whose body is in memory.
    pub(super) fn again(&self) -> Option<Self> {
        Some(Self { operation: self.operation.clone(), http: self.http.try_clone()? })
    }
}

/// Returns the operation of a request to DynamoDB, from a header such as `DynamoDB_20120810.PutItem`.
pub(super) fn operation(http: &HttpRequest) -> Option<String> {
    let (service, operation) = http.headers().get("x-amz-target")?.split_once('.')?;
    service.starts_with("DynamoDB_").then(|| operation.to_owned())
}

/// Parses JSON. Any other text becomes null.
pub(super) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_default()
}
