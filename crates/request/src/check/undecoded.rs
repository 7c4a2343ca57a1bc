//! Bodies that checks cannot read, and the numbers of failed checks that stand for them.

/// The number of a failed check for a body that is too long to be kept.
pub(super) const TOO_LONG: u16 = u16::MAX;

/// Why a body could not be decoded. Each has a number above those of checks, so that it can be a failed check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undecoded {
    Unknown,
    Damaged,
    Cut,
    TooLarge,
    TooDense,
}

impl Undecoded {
    const ALL: [Self; 5] = [Self::Unknown, Self::Damaged, Self::Cut, Self::TooLarge, Self::TooDense];

    /// The number of the failed check.
    pub(super) const fn number(self) -> u16 {
        u16::MAX - 1 - self as u16
    }

    pub(super) fn of_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|undecoded| undecoded.number() == number)
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Unknown => "Content-Encoding: only one of gzip, deflate, br and zstd can be decoded",
            Self::Damaged => "Content-Encoding: the body is damaged",
            Self::Cut => "Content-Encoding: the body ends before its data",
            Self::TooLarge => "Content-Encoding: the body decodes to more than 64 MiB",
            Self::TooDense => "Content-Encoding: the body decodes to more than 256 times its size",
        }
    }
}
