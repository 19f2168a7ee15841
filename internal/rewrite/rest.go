package rewrite

type product struct{}

var shapeRules, logicRules, reductionRules, stableRules, factorRules, powerRules, productRules []*Rule
