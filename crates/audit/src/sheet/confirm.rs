//! Which unit latencies without one have: that in which most rows obey N = X·R (Little's law).
//!
//! Without connections, throughput and mean there is nothing to tell it by; milliseconds are then taken, and are unsure.

use super::Sheet;
use crate::figure::{Figure, Reading, Span};
use crate::kind::Kind;
use schema::audit::Basis;

/// Units that are tried, as factors of the milliseconds that were taken, the likeliest first.
const TRIED: [(f64, &str); 3] = [(1.0, "ms"), (1e-3, "us"), (1e3, "s")];
/// A row speaks for a unit where its requests in flight are between these shares of its connections.
const AGREES: (f64, f64) = (0.7, 1.05);

impl Sheet {
    /// Finds the unit of latencies that have none, or marks it as unsure.
    pub(super) fn confirm_units(&mut self) {
        let bare: Vec<usize> = (0..self.columns.len()).filter(|at| self.has_no_unit(*at)).collect();
        if bare.is_empty() {
            return;
        }
        let has_bare_mean = bare.iter().any(|at| self.columns[*at].kind == Kind::Mean);
        let found = if has_bare_mean { self.unit_by_littles_law() } else { None };
        let kinds: Vec<Kind> = bare.iter().map(|at| self.columns[*at].kind).collect();
        let Some((factor, unit)) = found else {
            self.unsure_units.extend(kinds.iter().copied());
            self.release(&bare);
            self.notes.push(
                "latencies without a unit are taken for milliseconds; --column 'HEADER=mean:s' says otherwise".to_owned(),
            );
            return;
        };
        for at in &bare {
            self.columns[*at].unit = Some(unit.to_owned());
        }
        for row in &mut self.rows {
            for kind in &kinds {
                if let Some(figure) = row.figures.get_mut(kind).filter(|figure| is_bare(figure)) {
                    *figure = figure.map(|value| value * factor);
                }
            }
        }
        self.release(&bare);
        self.notes.push(format!(
            "latencies without a unit are taken for {unit}: so most rows obey N = X·R (Little's law)"
        ));
    }

    /// What was unsure for its unit only is unsure among other units only.
    fn release(&mut self, bare: &[usize]) {
        for at in bare {
            let kind = self.columns[*at].kind;
            let is_sure = crate::header::guess(&self.columns[*at].header).is_some_and(|guess| guess.sure);
            if is_sure || kind.share().is_some() {
                self.unsure.remove(&kind);
            }
        }
    }

    fn has_no_unit(&self, at: usize) -> bool {
        let column = &self.columns[at];
        let has_own = crate::header::guess(&column.header).is_some_and(|guess| guess.unit.is_some());
        let some_bare = self.rows.iter().any(|row| row.get(column.kind).is_some_and(is_bare));
        column.kind.is_latency() && column.basis == Basis::Assumed && !has_own && some_bare
    }

    fn unit_by_littles_law(&self) -> Option<(f64, &'static str)> {
        let rows: Vec<(f64, Span)> = self
            .rows
            .iter()
            .filter_map(|row| {
                let in_flight = row
                    .get(Kind::Throughput)?
                    .span(Reading::Loose)
                    .times(row.get(Kind::Mean)?.span(Reading::Loose));
                Some((row.in_flight().filter(|n| *n > 0.0)?, in_flight))
            })
            .collect();
        TRIED.into_iter().find(|(factor, _)| {
            let agree = rows.iter().filter(|(n, x_r)| {
                Span::new(AGREES.0, AGREES.1).meets(Span::new(x_r.low * factor / n, x_r.high * factor / n))
            });
            let agree = agree.count();
            agree > 0 && 2 * agree > rows.len()
        })
    }
}

/// Whether a figure is printed without a unit.
fn is_bare(figure: &Figure) -> bool {
    !figure.text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'))
}
