//! Contrasts of a full factorial plan: main effects and two-way interactions, block by block.
//!
//! A contrast of one block is a mean of its cells with weights that add up to 0, so what the block does to all cells
//! alike cancels; over blocks it is a sample of independent values for Student's t, with an error of its own: no
//! variance is pooled over cells that may differ in it (Montgomery, *Design and Analysis of Experiments*, 8th ed., §3.5
//! and §5.3; Jain, *The Art of Computer Systems Performance Analysis*, 1991, ch. 17–18).
//! Absent on purpose: interactions of three and more factors, and plans that are not a full cross.

/// The cells of a full cross, each by the level of each factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cross {
    /// How many levels each factor has; at least 2.
    levels: Vec<usize>,
    /// Level of each factor, by cell.
    cells: Vec<Vec<usize>>,
}

/// A level held against the first one of its factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which factor, from 0.
    pub factor: usize,
    /// Which level, from 1.
    pub level: usize,
}

/// A main effect or a two-way interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// One step for a main effect, two for an interaction.
    pub steps: Vec<Step>,
    /// One weight a cell; they add up to 0.
    weights: Vec<f64>,
}

impl Cross {
    /// From the level of each factor in each cell. `None` unless every combination occurs exactly once, with at least
    /// one factor and at least two levels of each.
    #[must_use]
    pub fn of(cells: Vec<Vec<usize>>) -> Option<Self> {
        let factors = cells.first()?.len();
        if factors == 0 || cells.iter().any(|cell| cell.len() != factors) {
            return None;
        }
        let levels: Vec<usize> = (0..factors)
            .map(|factor| cells.iter().map(|cell| cell[factor]).max().map_or(0, |top| top + 1))
            .collect();
        let combinations = levels.iter().try_fold(1_usize, |product, levels| product.checked_mul(*levels))?;
        let distinct: std::collections::BTreeSet<&Vec<usize>> = cells.iter().collect();
        let is_full = combinations == cells.len() && distinct.len() == cells.len();
        (is_full && levels.iter().all(|levels| *levels >= 2)).then_some(Self { levels, cells })
    }

    /// How many contrasts there are.
    #[must_use]
    pub fn contrast_count(&self) -> usize {
        let steps: Vec<usize> = self.levels.iter().map(|levels| levels - 1).collect();
        let pairs = steps.iter().enumerate().map(|(at, first)| {
            let later: usize = steps[at + 1..].iter().sum();
            first.saturating_mul(later)
        });
        steps.iter().sum::<usize>().saturating_add(pairs.fold(0, usize::saturating_add))
    }

    /// Every main effect, then every two-way interaction, in the order of factors and levels.
    #[must_use]
    pub fn contrasts(&self) -> Vec<Contrast> {
        let steps: Vec<Step> = self
            .levels
            .iter()
            .enumerate()
            .flat_map(|(factor, levels)| (1..*levels).map(move |level| Step { factor, level }))
            .collect();
        let mut contrasts: Vec<Contrast> = steps.iter().map(|step| self.contrast(vec![*step])).collect();
        for (at, first) in steps.iter().enumerate() {
            let others = steps[at + 1..].iter().filter(|second| second.factor != first.factor);
            contrasts.extend(others.map(|second| self.contrast(vec![*first, *second])));
        }
        contrasts
    }

    /// Cells at the level of a step count for, those at the first level against, others not at all; over steps the
    /// signs multiply. Each of the means that are added or taken away is over as many cells.
    fn contrast(&self, steps: Vec<Step>) -> Contrast {
        let sign = |cell: &[usize], step: &Step| match cell[step.factor] {
            0 => -1.0,
            level if level == step.level => 1.0,
            _ => 0.0,
        };
        let in_each: usize = self
            .levels
            .iter()
            .enumerate()
            .filter(|(factor, _)| steps.iter().all(|step| step.factor != *factor))
            .map(|(_, levels)| levels)
            .product();
        let weight =
            |cell: &Vec<usize>| steps.iter().map(|step| sign(cell, step)).product::<f64>() / in_each as f64;
        Contrast { weights: self.cells.iter().map(weight).collect(), steps }
    }
}

impl Contrast {
    /// Its value in one block; `values` has one value a cell, in the order of the cross.
    #[must_use]
    pub fn value(&self, values: &[f64]) -> f64 {
        self.weights
            .iter()
            .zip(values)
            .filter(|(weight, _)| **weight != 0.0)
            .map(|(weight, value)| weight * value)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::student::MeanTest;

    fn named(cross: &Cross, steps: &[(usize, usize)]) -> Contrast {
        let steps: Vec<Step> =
            steps.iter().map(|(factor, level)| Step { factor: *factor, level: *level }).collect();
        cross.contrasts().into_iter().find(|contrast| contrast.steps == steps).expect("the contrast is there")
    }

    fn check(contrast: &Contrast, blocks: &[Vec<f64>], mean: f64, ends: Option<(f64, f64)>) {
        let values: Vec<f64> = blocks.iter().map(|block| contrast.value(block)).collect();
        let test = MeanTest::of(&values).unwrap();
        assert!((test.mean - mean).abs() < 1e-9, "{test:?} is not {mean}");
        if let Some((low, high)) = ends {
            let got = test.interval(0.95);
            assert!((got.0 - low).abs() < 1e-8 && (got.1 - high).abs() < 1e-8, "{got:?}");
        }
    }

    #[test]
    fn two_factors_of_two_levels_as_in_jain() {
        // Jain 1991, table 18.1 (2²3 design): q_A = 21.5, q_B = 9.5, q_AB = 5; a level differs from the other by 2q, and
        // the interaction as a difference of differences is 4q. Ends: scipy.stats.ttest_1samp 1.17.1 of the contrasts.
        let cross = Cross::of(vec![vec![0, 0], vec![1, 0], vec![0, 1], vec![1, 1]]).unwrap();
        let blocks =
            [vec![15.0, 45.0, 25.0, 75.0], vec![18.0, 48.0, 28.0, 75.0], vec![12.0, 51.0, 19.0, 81.0]];
        let (a, b, both) =
            (named(&cross, &[(0, 1)]), named(&cross, &[(1, 1)]), named(&cross, &[(0, 1), (1, 1)]));
        check(&a, &blocks, 43.0, Some((26.757_842_128_962_91, 59.242_157_871_037_094)));
        check(&b, &blocks, 19.0, Some((16.848_673_635_125_27, 21.151_326_364_874_73)));
        check(&both, &blocks, 20.0, Some((12.547_586_864_749_011, 27.452_413_135_250_99)));
        assert_eq!((cross.contrast_count(), cross.contrasts().len()), (3, 3));
    }

    /// Montgomery, Design and Analysis of Experiments, table 5.1: hours of life of a battery by material (3) and
    /// temperature (3), four of each. Rows are replicates, columns cells in the order (1, 15 °F), (1, 70), (1, 125), (2, 15)…
    const BATTERY: [[f64; 9]; 4] = [
        [130.0, 34.0, 20.0, 150.0, 136.0, 25.0, 138.0, 174.0, 96.0],
        [155.0, 40.0, 70.0, 188.0, 122.0, 70.0, 110.0, 120.0, 104.0],
        [74.0, 80.0, 82.0, 159.0, 106.0, 58.0, 168.0, 150.0, 82.0],
        [180.0, 75.0, 58.0, 126.0, 115.0, 45.0, 160.0, 139.0, 60.0],
    ];

    #[test]
    fn two_factors_of_three_levels_as_in_montgomery() {
        let cells = (0..3).flat_map(|material| (0..3).map(move |heat| vec![material, heat])).collect();
        let cross = Cross::of(cells).unwrap();
        let blocks: Vec<Vec<f64>> = BATTERY.iter().map(|row| row.to_vec()).collect();
        // The book's averages: materials 83.17, 108.33, 125.08; temperatures 144.83, 107.58, 64.17.
        let (materials, heats) = (
            [83.0 + 1.0 / 6.0, 108.0 + 1.0 / 3.0, 125.0 + 1.0 / 12.0],
            [144.0 + 5.0 / 6.0, 107.0 + 7.0 / 12.0, 64.0 + 1.0 / 6.0],
        );
        for level in [1, 2] {
            check(&named(&cross, &[(0, level)]), &blocks, materials[level] - materials[0], None);
            check(&named(&cross, &[(1, level)]), &blocks, heats[level] - heats[0], None);
        }
        // From the averages of the cells, 134.75, 57.25, 57.5; 155.75, 119.75, 49.5; 144, 145.75, 85.5.
        check(&named(&cross, &[(0, 1), (1, 1)]), &blocks, 41.5, None);
        check(&named(&cross, &[(0, 2), (1, 2)]), &blocks, 18.75, None);
        assert_eq!((cross.contrast_count(), cross.contrasts().len()), (8, 8));
    }

    #[test]
    fn what_a_block_does_to_all_cells_cancels() {
        let cells: Vec<Vec<usize>> = (0..12).map(|cell| vec![cell % 2, cell / 2 % 3, cell / 6]).collect();
        let cross = Cross::of(cells).unwrap();
        let values: Vec<f64> = (0..12).map(|cell| f64::from(cell * cell)).collect();
        let raised: Vec<f64> = values.iter().map(|value| value + 1e3).collect();
        assert_eq!(cross.contrasts().len(), cross.contrast_count());
        for contrast in cross.contrasts() {
            assert!((contrast.value(&values) - contrast.value(&raised)).abs() < 1e-9, "{contrast:?}");
        }
    }

    #[test]
    fn only_a_full_cross_is_one() {
        assert!(Cross::of(vec![]).is_none());
        assert!(Cross::of(vec![vec![], vec![]]).is_none());
        assert!(Cross::of(vec![vec![0, 0], vec![1, 0], vec![0, 1]]).is_none());
        assert!(Cross::of(vec![vec![0, 0], vec![1, 0], vec![0, 1], vec![0, 1]]).is_none());
        assert!(Cross::of(vec![vec![0, 0], vec![1, 0]]).is_none(), "the second has one level only");
        assert!(Cross::of(vec![vec![0, 0], vec![1]]).is_none());
        assert!(Cross::of(vec![vec![usize::MAX - 1, usize::MAX - 1]]).is_none());
    }
}
