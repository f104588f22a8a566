//! Which of many candidates really help, when the mere number of candidates makes flukes likely.
//!
//! Eight useless remedies, each tested at 5 %, yield a "winner" in one session of three. Procedures that
//! control the *false discovery rate* α see to it that among the remedies called helpful the expected share
//! of useless ones is at most α. Most of them need p-values that are independent. Arms that share a baseline
//! are not independent, and racing stops each when it pleases. E-values need neither: an e-value is a fortune
//! whose expectation is at most 1 if the candidate is useless, and an average of dependent fortunes is still
//! one.
//!
//! *e-BH* (Wang and Ramdas, arXiv 2009.02824) sorts them and takes the k largest for the largest k with k ·
//! e_(k) / K ≥ 1/α. *Closed e-BH* (arXiv 2504.11759) takes the largest set R for which
//!
//! > for every set S of candidates: mean of e over S ≥ |S ∩ R| / (α |R|).
//!
//! Why that suffices: take for S the truly useless candidates. Then the share of useless ones in R is at most
//! α times the mean of their e-values, whose expectation is at most 1. It never selects fewer than e-BH does.
//!
//! Apply either once, at the end (arXiv 2501.19360), to the e-values at the time when each arm stopped.

/// Selects by e-BH: one flag a candidate, in the order of `e`; true means "not a fluke".
///
/// NaN and negative values count as 0. With an `alpha` that is not between 0 and 1 nothing is selected.
#[must_use]
pub fn e_bh(e: &[f64], alpha: f64) -> Vec<bool> {
    let order = descending(e);
    let total = e.len() as f64;
    let selected = if valid(alpha) {
        (1..=e.len())
            .rev()
            .find(|&k| k as f64 * evidence(e[order[k - 1]]) / total >= 1.0 / alpha)
    } else {
        None
    };
    flags(&order, selected.unwrap_or(0))
}

/// Selects by closed e-BH, which contains the selection of [`e_bh`] and is sometimes larger.
///
/// Takes O(K³) steps for K candidates; arguments as for [`e_bh`].
#[must_use]
pub fn closed_e_bh(e: &[f64], alpha: f64) -> Vec<bool> {
    let order = descending(e);
    let values: Vec<f64> = order.iter().map(|&i| evidence(e[i])).collect();
    let selected = if valid(alpha) {
        (1..=e.len()).rev().find(|&k| is_closed(&values, k, alpha))
    } else {
        None
    };
    flags(&order, selected.unwrap_or(0))
}

/// True when the first `k` of the descending `values` fulfil the condition against every set S.
///
/// Among the sets with i members inside and j outside, the one with the smallest values is the strictest.
fn is_closed(values: &[f64], k: usize, alpha: f64) -> bool {
    let mut inside = 0.0;
    for i in 1..=k {
        inside += values[k - i];
        let mut sum = inside;
        for j in 0..=values.len() - k {
            if j > 0 {
                sum += values[values.len() - j];
            }
            if sum * alpha * (k as f64) < ((i + j) * i) as f64 {
                return false;
            }
        }
    }
    true
}

fn valid(alpha: f64) -> bool {
    alpha > 0.0 && alpha < 1.0
}

/// What an e-value is worth: a broken one is worth nothing.
fn evidence(e: f64) -> f64 {
    if e > 0.0 { e } else { 0.0 }
}

/// The positions of `e`, largest value first.
fn descending(e: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..e.len()).collect();
    order.sort_by(|&a, &b| evidence(e[b]).total_cmp(&evidence(e[a])));
    order
}

fn flags(order: &[usize], selected: usize) -> Vec<bool> {
    let mut flags = vec![false; order.len()];
    for &position in &order[..selected] {
        flags[position] = true;
    }
    flags
}
