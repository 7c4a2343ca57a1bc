//! Work on files, away from the thread that serves.

use crate::error::ApiError;
use axum::http::StatusCode;
use schema::said;
use schema::said::Said;

/// Does work that waits for files on one of few threads; a panic there is an error of this request alone.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            said!(
                "lab.broke_off",
                "the work on this request broke off: {why}",
                why = Said::from(error.to_string())
            ),
            said!(
                "lab.report_with_folder_more",
                "report it with the run folder; prony report RUN may tell more"
            ),
        ))
    })
}
