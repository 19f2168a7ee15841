package optest

import (
	"context"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
)

// runOn runs a compiled plan on views of the host's memory: on a device that does not reach that,
// on copies of all of it, whose bytes come back, also those between elements.
func runOn(dev device.Device, c *exec.Compiled, ins []*array.View, outs []array.View) (err error) {
	if dev.Fallback() == nil {
		return c.Run(context.Background(), nil, ins, nil, outs)
	}
	defer func() {
		if e := dev.Default().Sync(); err == nil {
			err = e
		}
	}()
	s, host := dev.Default(), dev.Fallback().Default()
	there := map[*array.Storage]*array.Storage{}
	var order []*array.Storage
	put := func(v array.View) (array.View, error) {
		if v.Store == nil {
			return v, nil
		}
		st, ok := there[v.Store]
		if !ok {
			st = s.Alloc(v.Store.Bytes)
			there[v.Store] = st
			order = append(order, v.Store)
			if err := s.Copy(device.Ref{Store: st}, device.Ref{Store: v.Store}, st.Bytes); err != nil {
				return v, err
			}
		}
		v.Store = st
		return v, nil
	}
	on, into := make([]*array.View, len(ins)), make([]array.View, len(outs))
	for i, v := range ins {
		w, err := put(*v)
		if err != nil {
			return err
		}
		on[i] = &w
	}
	for i, v := range outs {
		w, err := put(v)
		if err != nil {
			return err
		}
		into[i] = w
	}
	if err := c.Run(context.Background(), nil, on, nil, into); err != nil {
		return err
	}
	for _, st := range order {
		if err := s.Copy(device.Ref{Store: st}, device.Ref{Store: there[st]}, st.Bytes); err != nil {
			return err
		}
	}
	back := map[*array.Storage]*array.Storage{}
	for st, d := range there {
		back[d] = st
	}
	for i := range outs {
		v := into[i]
		if st := back[v.Store]; st != nil {
			v.Store = st
		} else if v.Store != nil {
			st := host.Alloc(v.Store.Bytes)
			if err := s.Copy(device.Ref{Store: st}, device.Ref{Store: v.Store}, st.Bytes); err != nil {
				return err
			}
			back[v.Store] = st
			v.Store = st
		}
		outs[i] = v
	}
	return nil
}
