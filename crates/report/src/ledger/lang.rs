//! The words of the ledger in both languages.

use schema::ledger::{Condition, LedgerVerdict};
use schema::study::{ReasonCode, Words};

/// A language of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// One of two texts.
    pub(crate) const fn pick<'a>(self, en: &'a str, zh: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }

    /// A text of a study in this language.
    pub(crate) fn of(self, words: &Words) -> &str {
        self.pick(&words.en, &words.zh)
    }

    pub(crate) const fn title(self) -> &'static str {
        self.pick("Ledger of published claims", "已发表论断核验表")
    }

    /// Before the list of what is not real.
    pub(crate) const fn absent(self) -> &'static str {
        self.pick("It also uses, and prony does not do:", "文章还用到而 prony 未实现的：")
    }

    pub(crate) const fn head(self) -> [&'static str; 8] {
        match self {
            Self::En => ["No.", "Claim", "Published", "Measured", "Verdict", "Run", "Differs", "Note"],
            Self::Zh => ["编号", "论断", "发表值", "实测", "结论", "运行", "条件差异", "备注"],
        }
    }

    pub(crate) const fn verdict(self, verdict: LedgerVerdict) -> &'static str {
        match verdict {
            LedgerVerdict::Reproduced => self.pick("reproduced", "已复现"),
            LedgerVerdict::Exceeded => self.pick("other size: more", "方向一致，幅度更大"),
            LedgerVerdict::Weaker => self.pick("other size: less", "方向一致，幅度更小"),
            LedgerVerdict::WeakerOrNone => {
                self.pick("other size: less, perhaps none", "幅度更小，或并无差异")
            }
            LedgerVerdict::Contradicted => self.pick("contradicted", "与实测相悖"),
            LedgerVerdict::Impossible => self.pick("impossible as printed", "所印数据不可能成立"),
            LedgerVerdict::Inconclusive => self.pick("inconclusive", "无法判定"),
            LedgerVerdict::Void => self.pick("void", "无效"),
            LedgerVerdict::NotRun => self.pick("not run yet", "尚未运行"),
            LedgerVerdict::CannotTest => self.pick("cannot be tested here", "此处无法检验"),
        }
    }

    pub(crate) const fn reason(self, reason: ReasonCode) -> &'static str {
        match reason {
            ReasonCode::Hardware => self.pick("hardware", "硬件"),
            ReasonCode::SoftwareNotAvailable => self.pick("software not available", "软件不可得"),
            ReasonCode::PrivateSystem => self.pick("private system", "私有系统"),
            ReasonCode::NotQuantified => self.pick("not quantified", "未量化"),
            ReasonCode::NotYet => self.pick("not measured by prony yet", "prony 尚不能测量"),
        }
    }

    pub(crate) const fn condition(self, condition: Condition) -> &'static str {
        match condition {
            Condition::Cores => self.pick("cores", "核数"),
            Condition::Connections => self.pick("connections", "连接数"),
            Condition::Rate => self.pick("rate", "速率"),
            Condition::Cpus => self.pick("CPU quota", "CPU 配额"),
            Condition::Memory => self.pick("memory limit", "内存上限"),
            Condition::Versions => self.pick("published with", "发表时的版本"),
        }
    }
}
