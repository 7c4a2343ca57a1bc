//! Metadata of a call, which goes with the questions to its server, too.

use schema::grpc::Grpc;
use schema::text::Problem;
use wire::grpc::MetadataError;

/// The metadata of a call as it is sent.
///
/// # Errors
/// Names that the protocol sets itself, values that cannot be.
pub(super) fn sent(grpc: &Grpc, at: &str) -> Result<Vec<(String, String)>, Problem> {
    let field = |(name, value): (&String, &String)| {
        let value = wire::grpc::metadata(name, value).map_err(|error| metadata_problem(&error, at))?;
        Ok((name.clone(), value))
    };
    grpc.metadata.iter().map(field).collect()
}

/// The messages of `wire` are cause and remedy in one, parted by a semicolon.
fn metadata_problem(error: &MetadataError, at: &str) -> Problem {
    let text = error.to_string();
    let (cause, remedy) = text.rsplit_once("; ").unwrap_or((&text, "correct it"));
    Problem::at(&format!("{at}.metadata"), cause, remedy)
}
