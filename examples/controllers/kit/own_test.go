// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// While writes are unseen nothing is planned. A failed read returns an error, so that the pauses grow.
func TestBehind(t *testing.T) {
	const again = 3 * time.Second
	lost := errors.New("connection reset")
	for why, c := range map[string]struct {
		owner, objects int
		ownerErr, err  error
		want           time.Duration
		wantErr        error
	}{
		"all is seen":            {},
		"the owner is not seen":  {owner: 1, want: kit.Gather},
		"neither is seen":        {owner: 1, objects: 1, want: kit.Gather},
		"an object is not seen":  {objects: 1, want: again},
		"the owner is not read":  {ownerErr: lost, objects: 1, wantErr: lost},
		"an object is not read":  {err: lost, wantErr: lost},
		"one of two owners is":   {owner: 1, ownerErr: lost, wantErr: lost},
		"one of two objects is":  {objects: 1, err: lost, wantErr: lost},
		"the owner is, it isn't": {owner: 1, err: lost, want: kit.Gather},
	} {
		count := func(n int, err error) func() (int, error) { return func() (int, error) { return n, err } }
		objects := count(c.objects, c.err)
		if c.ownerErr != nil {
			objects = func() (int, error) { t.Errorf("%s: the objects are asked for", why); return 0, nil }
		}
		if got, err := kit.Behind(count(c.owner, c.ownerErr), objects, func() time.Duration { return again }); got != c.want || err != c.wantErr {
			t.Errorf("%s: %v, %v", why, got, err)
		}
	}
}

// An object is requeued no later than it asks for, and soon after an error. Each object has its own pauses, which begin
// anew after a success.
func TestPaces(t *testing.T) {
	var p kit.Paces
	a, b := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	failed := errors.New("it failed")
	for i, c := range []struct {
		of      types.NamespacedName
		err     error
		recheck time.Duration
		want    time.Duration
	}{
		{a, nil, time.Hour, time.Hour},
		{a, failed, 0, 100 * time.Millisecond},
		{a, failed, time.Hour, 200 * time.Millisecond},
		{a, failed, 300 * time.Millisecond, 300 * time.Millisecond},
		{a, failed, 1, 800 * time.Millisecond}, // a passed time does not shorten the pause
		{b, failed, 0, 100 * time.Millisecond},
		{a, failed, 0, 1600 * time.Millisecond},
		{b, nil, 1, 100 * time.Millisecond},
		{a, nil, 0, 0},
		{a, failed, 0, 100 * time.Millisecond},
	} {
		if got := p.After(c.of, c.err, c.recheck); got != c.want {
			t.Errorf("look %d: %v, want %v", i, got, c.want)
		}
	}
}
