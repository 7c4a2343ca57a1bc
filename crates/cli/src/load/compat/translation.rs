//! What a translation of a foreign command line gives.

/// A native command line and what differs from the other tool.
#[derive(Debug)]
pub(crate) struct Translation {
    /// Arguments after `prony load`.
    pub(crate) arguments: Vec<String>,
    /// One sentence each.
    pub(crate) notes: Vec<String>,
}

impl Translation {
    /// As a shell would need it.
    pub(crate) fn line(&self) -> String {
        let is_url = |word: &&String| word.contains("://");
        let shown = self.arguments.iter().map(|word| match Some(word).filter(is_url) {
            Some(url) => plan::login::masked(url).into_owned(),
            None => word.clone(),
        });
        let words = ["prony", "load"].map(str::to_owned).into_iter().chain(shown);
        report::command_line(&words.collect::<Vec<_>>())
    }
}
