package optim

import (
	"testing"

	"weft"
	"weft/internal/core"
)

// TestUpdateIsOneKernel holds the promise that an update is one kernel in place.
func TestUpdateIsOneKernel(t *testing.T) {
	w, g := weft.Zeros(4, 5).RequireGrad(), weft.Zeros(4, 5)
	one := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
	inPlace := func(name string, params []*param, u update) {
		t.Helper()
		p := params[0]
		p.keep()
		if !u.f.InPlace(p.places(nil), u.args(nil, p, g)) {
			t.Error(name)
		}
	}
	for name, o := range map[string]SGDOpts{"sgd": {LR: new(1.0)}, "sgd with momentum": {LR: new(1.0), Momentum: 0.5}, "sgd with Nesterov's momentum": {LR: new(1.0), Momentum: 0.5, Nesterov: true}} {
		m := NewSGD(one, o)
		inPlace(name, m.groups[0].params, o.update(&moment{rate: core.HostConst(1)}))
	}
	for name, o := range map[string]AdamOpts{"adam": {LR: new(1.0)}, "amsgrad": {LR: new(1.0), AMSGrad: true}} {
		m := NewAdam(one, o)
		inPlace(name, m.groups[0].params, m.groups[0].o.update(&moment{rate: core.HostConst(1)}))
	}
	for name, o := range map[string]RMSpropOpts{"rmsprop": {LR: new(1.0)}, "rmsprop with all": {LR: new(1.0), Momentum: 0.5, Centered: true}} {
		m := NewRMSprop(one, o)
		inPlace(name, m.groups[0].params, m.groups[0].o.update(&moment{rate: core.HostConst(1)}))
	}
	inPlace("adagrad", NewAdagrad(one, AdagradOpts{LR: new(1.0)}).groups[0].params, AdagradOpts{LR: new(1.0)}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("radam", NewRAdam(one).groups[0].params, RAdamOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("adamax", NewAdamax(one).groups[0].params, AdamaxOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("adadelta", NewAdadelta(one).groups[0].params, AdadeltaOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("asgd", NewASGD(one).groups[0].params, ASGDOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("rprop", NewRprop(one).groups[0].params, RpropOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	inPlace("lion", NewLion(one).groups[0].params, LionOpts{}.filled().update(&moment{rate: core.HostConst(1)}))
	n := NewNAdam(one, NAdamOpts{LR: new(1.0)})
	inPlace("nadam", n.groups[0].params, n.groups[0].o.update(&moment{rate: core.HostConst(1)}))
}
