//! Maxima of functions of one or two unknowns without derivatives.

/// Evaluations at most.
const CALLS_MAX: usize = 600;

/// The place of the maximum by the method of Nelder & Mead (Computer Journal 7, 1965), begun around `start` with steps
/// of `step`, and begun once more where it ended, against a collapsed simplex. Values that are no number count as the
/// worst.
pub(super) fn maximum<const N: usize>(
    start: [f64; N],
    step: f64,
    tolerance: f64,
    value: impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let cost = |place: &[f64; N]| {
        let found = value(place);
        if found.is_nan() { f64::INFINITY } else { -found }
    };
    let (place, _) = descend(start, step, tolerance, &cost);
    let (place, best) = descend(place, step / 20.0, tolerance, &cost);
    (place, -best)
}

fn descend<const N: usize>(
    start: [f64; N],
    step: f64,
    tolerance: f64,
    cost: &impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let mut corners = vec![(start, cost(&start))];
    for axis in 0..N {
        let mut corner = start;
        corner[axis] += step;
        corners.push((corner, cost(&corner)));
    }
    let mut calls = corners.len();
    while calls < CALLS_MAX {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        if is_small(&corners, tolerance) {
            break;
        }
        let (worst, worst_cost) = corners[N];
        let center: [f64; N] = std::array::from_fn(|axis| {
            corners[..N].iter().map(|corner| corner.0[axis]).sum::<f64>() / N as f64
        });
        let along = |share: f64| {
            let place: [f64; N] =
                std::array::from_fn(|axis| center[axis] + share * (worst[axis] - center[axis]));
            (place, cost(&place))
        };
        let mirrored = along(-1.0);
        calls += 2;
        let next = if mirrored.1 < corners[0].1 {
            let far = along(-2.0);
            if far.1 < mirrored.1 { far } else { mirrored }
        } else if mirrored.1 < corners[N - 1].1 {
            mirrored
        } else {
            along(if mirrored.1 < worst_cost { -0.5 } else { 0.5 })
        };
        if next.1 < worst_cost {
            corners[N] = next;
            continue;
        }
        let best = corners[0].0;
        for corner in &mut corners[1..] {
            corner.0 = std::array::from_fn(|axis| (corner.0[axis] + best[axis]) / 2.0);
            corner.1 = cost(&corner.0);
        }
        calls += N;
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners[0]
}

/// Whether all corners lie within `tolerance` of the best.
fn is_small<const N: usize>(corners: &[([f64; N], f64)], tolerance: f64) -> bool {
    corners[1..]
        .iter()
        .all(|corner| (0..N).all(|axis| (corner.0[axis] - corners[0].0[axis]).abs() <= tolerance))
}
