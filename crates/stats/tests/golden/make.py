"""Makes the golden vectors of this folder with implementations that share nothing with the crate's.

    python3 -m venv venv && venv/bin/pip install numpy scipy && venv/bin/python make.py

NumPy and SciPy where they have the function; plain enumeration (all Walsh averages, all sign patterns, all subsets) or a root finder
on a naive formula where they have not. Seeds are fixed, so a second run writes the same files.
"""

import itertools
import json
import math
import pathlib

import numpy as np
import scipy
from scipy import optimize, special, stats

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(20261130)


def write(name, cases):
    text = json.dumps({"made_with": f"make.py, NumPy {np.__version__}, SciPy {scipy.__version__}", "cases": cases})
    # One case a line keeps differences readable.
    (HERE / name).write_text(text.replace('}, {', '},\n{') + "\n")


def numbers(values):
    return [float(v) for v in values]


def samples(n, kind):
    if kind == "normal":
        return rng.normal(0.01, 0.02, n)
    if kind == "heavy":
        return 0.01 + 0.02 * rng.standard_t(2, n)
    if kind == "ties":
        return np.round(rng.normal(0.5, 1.0, n))
    return np.concatenate([rng.normal(0.0, 0.02, n - 1), [4.6]])


KINDS = ("normal", "heavy", "ties", "outlier")


def special_functions():
    cases = []
    for x in [1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 11.99, 12.0, 60.5, 171.0, 1e4, 1e6]:
        cases.append({"function": "ln_gamma", "arguments": [x], "value": float(special.gammaln(x))})
    for a, b in [(1, 1), (3, 7), (30, 30), (40.5, 20.5), (230, 1.0), (1000, 900)]:
        cases.append({"function": "ln_beta", "arguments": [a, b], "value": float(special.betaln(a, b))})
    for x, a, b in [(0.5, 1, 1), (0.5, 31, 40), (0.5, 90, 31), (0.3, 0.5, 2.5), (0.99, 30, 0.5), (0.5, 300, 400)]:
        cases.append({"function": "incomplete_beta", "arguments": [x, a, b], "value": float(special.betainc(a, b, x))})
    for z in [-8.0, -3.0, -1.96, -0.5, 0.0, 0.3, 1.0, 2.5, 2.9, 6.0]:
        cases.append({"function": "normal_cdf", "arguments": [z], "value": float(stats.norm.cdf(z))})
    for p in [1e-300, 1e-12, 0.001, 0.025, 0.31, 0.5, 0.8, 0.975, 0.999999]:
        cases.append({"function": "normal_quantile", "arguments": [p], "value": float(stats.norm.ppf(p))})
    for p, f in [(0.975, 1), (0.975, 5), (0.995, 2.5), (0.9, 30), (0.025, 200), (0.6, 12)]:
        cases.append({"function": "student_quantile", "arguments": [p, f], "value": float(stats.t.ppf(p, f))})
    write("special.json", cases)


def summaries():
    cases = []
    for n, kind in itertools.product([1, 2, 5, 12, 31], KINDS):
        if n == 1 and kind == "outlier":
            continue
        x = samples(n, kind)
        q = {str(p): float(np.quantile(x, p)) for p in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)}
        cases.append({
            "values": numbers(x), "quantiles": q, "mean": float(np.mean(x)),
            "sd": float(np.std(x, ddof=1)) if n > 1 else 0.0,
            "mad": float(stats.median_abs_deviation(x)),
        })
    write("summary.json", cases)


def walsh(x):
    return np.sort([(x[i] + x[j]) / 2 for i in range(len(x)) for j in range(i, len(x))])


def signed_ranks():
    """Hodges-Lehmann by writing down all averages; p by SciPy, with ties by all patterns; intervals by inverting p."""
    cases = []
    for n, kind in itertools.product([6, 7, 9, 12], KINDS):
        x = samples(n, kind)
        nonzero = x[x != 0]
        ranks = stats.rankdata(np.abs(nonzero))
        observed = min(ranks[nonzero > 0].sum(), ranks[nonzero < 0].sum())
        sums = [np.dot(ranks, pattern) for pattern in itertools.product([0, 1], repeat=len(ranks))]
        p = min(1.0, 2 * np.mean(np.array(sums) <= observed + 1e-9))
        case = {"d": numbers(x), "hodges_lehmann": float(np.median(walsh(x))), "p": float(p)}
        if kind != "ties":
            assert abs(p - stats.wilcoxon(x, method="exact").pvalue) < 1e-12
            for alpha in (0.05, 0.1):
                w = walsh(x)
                inner = (w[1:] + w[:-1]) / 2
                kept = [m for m in inner if stats.wilcoxon(x - m, method="exact").pvalue > alpha]
                if kept and stats.wilcoxon(x - (w[0] - 1), method="exact").pvalue <= alpha:
                    low = w[w < min(kept)].max()
                    high = w[w > max(kept)].min()
                    case[f"interval_{alpha}"] = [float(low), float(high)]
                else:
                    case[f"interval_{alpha}"] = None
        cases.append(case)
    for n in (25, 60):
        x = samples(n, "heavy")
        cases.append({"d": numbers(x), "hodges_lehmann": float(np.median(walsh(x))),
                      "p": float(stats.wilcoxon(x, method="exact").pvalue)})
    # Enough ties that more than sixty differences remain once the zeros are gone.
    for n, kind in ((90, "heavy"), (140, "ties")):
        x = samples(n, kind)
        p = stats.wilcoxon(x, method="approx", correction=True, zero_method="wilcox").pvalue
        cases.append({"d": numbers(x), "hodges_lehmann": float(np.median(walsh(x))), "p": float(p)})
    write("signed_rank.json", cases)


def sign_flips():
    cases = []
    for n, kind in itertools.product([4, 8, 12], KINDS):
        x = samples(n, kind)
        nonzero = x[x != 0]
        limit = 3 * np.median(np.abs(nonzero)) if len(nonzero) else 0.0
        scores = np.clip(nonzero, -limit, limit)
        sums = [abs(np.dot(scores, signs)) for signs in itertools.product([-1, 1], repeat=len(scores))]
        p = np.mean(np.array(sums) >= abs(scores.sum()) - 1e-9)
        cases.append({"d": numbers(x), "p": float(p)})
    write("sign_flip.json", cases)


GUESSES = (1, 3, 10, 30)


def fortune(s, t):
    """By integrating the bet over its guesses, not by the beta function."""
    def one(a):
        grid = (np.arange(200_000) + 0.5) / 200_000
        bet = s * np.log(2 * grid) + (t - s) * np.log(2 * (1 - grid)) + stats.beta.logpdf(grid, a, a)
        return np.exp(special.logsumexp(bet)) / len(grid)
    return float(np.mean([one(a) for a in GUESSES]))


def one_sided(wins, t):
    """The same with guesses restricted to the betting half."""
    def one(a):
        grid = 0.5 + (np.arange(200_000) + 0.5) / 400_000
        bet = wins * np.log(2 * grid) + (t - wins) * np.log(2 * (1 - grid)) + stats.beta.logpdf(grid, a, a) + math.log(2)
        return np.exp(special.logsumexp(bet)) / (2 * len(grid))
    return float(np.mean([one(a) for a in GUESSES]))


def ends(excluded_low, excluded_high, points):
    """The interval over a brute-force grid of all points and of all gaps between them."""
    points = sorted(set(points))
    grid = [points[0] - 1] + [v for p, q in zip(points, points[1:] + [points[-1] + 2]) for v in (p, (p + q) / 2)]
    low = None if not excluded_low(grid[0]) else min(m for m in grid if not excluded_low(m))
    high = None if not excluded_high(grid[-1]) else max(m for m in grid if not excluded_high(m))
    return [low, high]


def sign_sequences():
    cases = []
    for n, kind in itertools.product([5, 10, 17, 40, 80], KINDS):
        x = samples(n, kind)
        def e(m):
            above, not_below = int(np.sum(x > m)), int(np.sum(x >= m))
            middle = min(max(n / 2, above), not_below)
            return math.exp(special.logsumexp(
                [n * math.log(2) + special.betaln(a + middle, a + n - middle) - special.betaln(a, a) for a in GUESSES]
            ) - math.log(4))
        def low(m): return np.sum(x > m) > n / 2 and e(m) >= 20
        def high(m): return np.sum(x < m) > n / 2 and e(m) >= 20
        s, t = int(np.sum(x > 0)), n
        case = {"d": numbers(x), "interval": ends(low, high, numbers(x)), "e_at_0": e(0.0)}
        if not np.any(x == 0):
            assert abs(case["e_at_0"] / fortune(s, t) - 1) < 1e-4
            case["e_less_at_0"] = one_sided(int(np.sum(x < 0)), t)
            case["e_greater_at_0"] = one_sided(s, t)
        cases.append(case)
    write("sequence.json", cases)


def symmetric_sequences():
    stakes, weights = (2.0, 1.0, 0.5, 0.125), (0.3, 0.3, 0.3, 0.1)
    cases = []
    for n, kind in itertools.product([5, 12, 40, 80], KINDS):
        x = samples(n, kind)
        scale = [0.0] + [float(stats.median_abs_deviation(x[:i])) for i in range(1, n)]
        def greater(m, sign=1.0):
            total = 0.0
            for stake, weight in zip(stakes, weights):
                log = 0.0
                for d, s in zip(x, scale):
                    z = float(np.sign(d - m)) if s == 0 else min(max((d - m) / (2 * s), -1.0), 1.0)
                    log += stake * sign * z - math.log(math.cosh(stake * z))
                total += weight * math.exp(log)
            return total
        def less(m): return greater(m, -1.0)
        case = {"d": numbers(x), "e_less_at_0": less(0.0), "e_greater_at_0": greater(0.0)}
        if kind != "ties":
            far = 1000.0
            case["interval"] = [
                optimize.brentq(lambda m: math.log(greater(m) / 40), -far, far, xtol=1e-15) if greater(-far) >= 40 else None,
                optimize.brentq(lambda m: math.log(less(m) / 40), -far, far, xtol=1e-15) if less(far) >= 40 else None,
            ]
        cases.append(case)
    write("symmetric.json", cases)


def e_bh():
    cases = []
    for k in (1, 2, 3, 4, 5):
        for _ in range(8):
            e = np.round(np.exp(rng.normal(2.5, 1.5, k)), 2)
            alpha = float(rng.choice([0.05, 0.1, 0.2]))
            plain = max((r for r in range(1, k + 1) if r * np.sort(e)[::-1][r - 1] / k >= 1 / alpha), default=0)
            subsets = [s for r in range(1, k + 1) for s in itertools.combinations(range(k), r)]
            closed = [r for r in subsets if all(
                np.mean(e[list(s)]) >= len(set(s) & set(r)) / (alpha * len(r)) for s in subsets)]
            cases.append({"e": numbers(e), "alpha": alpha, "e_bh": plain, "closed_e_bh": max(map(len, closed), default=0)})
    write("e_bh.json", cases)


def intervals():
    cases = []
    for n, kind in itertools.product([6, 9, 20, 75], KINDS):
        x = np.sort(samples(n, kind))
        for alpha in (0.05, 0.01):
            k = int(stats.binom.ppf(alpha / 2, n, 0.5))
            while k > 0 and 2 * stats.binom.cdf(k - 1, n, 0.5) > alpha:
                k -= 1
            while 2 * stats.binom.cdf(k, n, 0.5) <= alpha:
                k += 1
            cases.append({"values": numbers(x), "alpha": alpha,
                          "interval": [float(x[k - 1]), float(x[n - k])] if k > 0 else None})
    write("median_interval.json", cases)


def ratios():
    """The ends are where Welch's statistic of x - r y meets the critical value at the estimated ratio's degrees of freedom."""
    cases = []
    for n, m in [(5, 5), (10, 30), (40, 8)]:
        x, y = rng.normal(10, 1, n), rng.normal(8, 2, m)
        r0 = x.mean() / y.mean()
        vx, vy = x.var(ddof=1) / n, y.var(ddof=1) / m
        freedom = (vx + r0**2 * vy) ** 2 / (vx**2 / (n - 1) + r0**4 * vy**2 / (m - 1))
        t = stats.t.ppf(0.975, freedom)
        def edge(r): return (x.mean() - r * y.mean()) ** 2 - t**2 * (vx + r**2 * vy)
        cases.append({"x": numbers(x), "y": numbers(y), "alpha": 0.05,
                      "interval": [optimize.brentq(edge, 0, r0, xtol=1e-14), optimize.brentq(edge, r0, 10 * r0, xtol=1e-14)]})
    write("ratio.json", cases)


for make in (special_functions, summaries, signed_ranks, sign_flips, sign_sequences, symmetric_sequences, e_bh, intervals, ratios):
    make()
