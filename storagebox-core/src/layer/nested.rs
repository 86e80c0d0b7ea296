//! Two layers as one.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Answered, Call, Layer, Next};
use crate::error::Result;

/// The first layer around the second.
#[async_trait]
impl<O: Layer, I: Layer> Layer for (O, I) {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let (outer, inner) = self;
        let make = || inner.around(call, next);
        outer.around(call, Next::new(call, &make)).await
    }
}

/// A layer that is shared, as by a test that looks at it afterwards.
#[async_trait]
impl<L: Layer + ?Sized> Layer for Arc<L> {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        (**self).around(call, next).await
    }
}
