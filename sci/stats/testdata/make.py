"""Writes scipy.json: results of scipy.stats. Needs numpy and scipy: python make.py > scipy.json"""
import json

import numpy as np
import scipy.stats as st

r = np.random.default_rng(0)
x = np.round(r.normal(0.2, 1, 40), 3)
y = np.round(r.normal(-0.1, 1.5, 31), 3)
z = np.round(0.5 * x + r.normal(0, 1, 40), 1)
o = np.array([18, 22, 30, 25, 9, 16])
table = np.array([[10, 20, 30], [6, 19, 17]])
two = np.array([[8, 5], [2, 13]])
res = lambda a: [float(a.statistic), float(a.pvalue)]
out = {}
for alt in ["two-sided", "less", "greater"]:
    out[alt] = {
        "TTest1Samp": res(st.ttest_1samp(x, 0.1, alternative=alt)), "TTestInd": res(st.ttest_ind(x, y, alternative=alt)),
        "Welch": res(st.ttest_ind(x, y, equal_var=False, alternative=alt)), "TTestRel": res(st.ttest_rel(x, z, alternative=alt)),
        "PearsonR": res(st.pearsonr(x, z, alternative=alt)), "SpearmanR": res(st.spearmanr(x, z, alternative=alt)),
        "MannWhitneyU": res(st.mannwhitneyu(np.round(x, 1), np.round(y, 1), alternative=alt, method="asymptotic")),
        "Wilcoxon": res(st.wilcoxon(np.round(10 * x), np.round(10 * z), alternative=alt, method="asymptotic")), "WilcoxonTies": res(st.wilcoxon(np.round(10 * x)[:12], np.round(10 * z)[:12], alternative=alt)), "WilcoxonExact": res(st.wilcoxon(y, alternative=alt, method="exact")),
        "KendallTies": res(st.kendalltau(np.round(x), np.round(z), alternative=alt)), "Kendall": res(st.kendalltau(x[:30], x[:30] + np.arange(30) * 0.1 * (-1.0) ** np.arange(30), alternative=alt)),
        "KendallMany": res(st.kendalltau(x[:39] + 1e-9 * np.arange(39), y[np.arange(39) % 31] + 1e-9 * np.arange(39), alternative=alt)), "KendallOrdered": res(st.kendalltau(np.arange(60), np.r_[1, 0, 2:60], alternative=alt)),
        "MannWhitneyExact": res(st.mannwhitneyu(x[:7], y, alternative=alt)), "MannWhitneyOne": res(st.mannwhitneyu(y, [0.1234], alternative=alt)), "MannWhitneyFew": res(st.mannwhitneyu([5, 3.5], [1, 4, 2], alternative=alt)),
        "KS2Samp": res(st.ks_2samp(x, y, alternative=alt)), "KS2SampFew": res(st.ks_2samp(y[:5], x[:7], alternative=alt)), "KS2SampSame": res(st.ks_2samp(np.round(x), np.round(x[:20]), alternative=alt)),
        "KS2SampFar": res(st.ks_2samp(np.arange(300) * 1.5, np.arange(217) * 0.9, alternative=alt)), "KS2SampLarge": res(st.ks_2samp(np.arange(10500) ** 1.01, np.arange(40.) ** 2 * 6.9, alternative=alt)),
        "Fisher": res(st.fisher_exact(two, alternative=alt)), "FisherMany": res(st.fisher_exact([[120, 98], [93, 141]], alternative=alt)),
        "FisherZero": [0, float(st.fisher_exact([[5, 0], [2, 9]], alternative=alt).pvalue)], "FisherTies": res(st.fisher_exact([[3, 1], [1, 3]], alternative=alt))}
c, t = st.chi2_contingency(table), st.chi2_contingency(two)
out["other"] = {"ChiSquare": res(st.chisquare(o)), "ChiSquareExpected": res(st.chisquare(o, [20, 20, 30, 20, 15, 15])),
                "Chi2Contingency": [c.statistic, c.pvalue], "Yates": [t.statistic, t.pvalue],
                "KS1Samp": res(st.ks_1samp(x, st.norm.cdf)), "KSFar": res(st.ks_1samp(x + 0.5, st.norm.cdf)),
                "FOneway": res(st.f_oneway(x, y, z)), "Kruskal": res(st.kruskal(x, y, z)), "KruskalTwo": res(st.kruskal(x, y)),
                "Levene": res(st.levene(x, y, z)), "LeveneMean": res(st.levene(x, y, center="mean")), "LeveneTrimmed": res(st.levene(x, y, z, center="trimmed", proportiontocut=0.1)), "Bartlett": res(st.bartlett(x, y, z)),
                "Shapiro": res(st.shapiro(x)), "ShapiroSkew": res(st.shapiro(np.exp(x / 2))), "Shapiro3": res(st.shapiro(x[:3])), "Shapiro5": res(st.shapiro(x[:5])), "Shapiro11": res(st.shapiro(y[:11])),
                "KSBig": res(st.ks_1samp((np.arange(3000) + 0.2) / 3000 * 0.98, st.uniform.cdf))}
intervals = {}
for alt in ["two-sided", "less", "greater"]:
    for level in [0.5, 0.95, 0.999]:
        intervals[f"{alt} {level}"] = {k: [str(v) for v in r.confidence_interval(level)] for k, r in {
            "TTest1Samp": st.ttest_1samp(x, 0.1, alternative=alt), "TTestInd": st.ttest_ind(x, y, alternative=alt), "Welch": st.ttest_ind(x, y, equal_var=False, alternative=alt),
            "TTestRel": st.ttest_rel(x, z, alternative=alt), "Three": st.ttest_1samp(x[:3], 0, alternative=alt),
            "PearsonR": st.pearsonr(x, z, alternative=alt), "PearsonThree": st.pearsonr(x[:3], z[:3], alternative=alt)}.items()}
print(json.dumps({"intervals": intervals, "x": x.tolist(), "y": y.tolist(), "z": z.tolist(), "results": out}))
