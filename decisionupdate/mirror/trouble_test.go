// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

var writes = flag.Int("writes", exhaustive.Of(700, 6_000, 40_000), "how many requests to the source change something, in the test of trouble")

// troubled is the client of a process. Its requests meet conflicts, are refused, lose their answers, and one of them is its last.
type troubled struct {
	site    *site
	rng     *rand.Rand
	version *int
	crash   context.CancelFunc // in place at the moment
	between func()             // what others do between two requests
	met     *trouble
}

// trouble counts what was met.
type trouble struct{ writes, conflicts, refused, lost, crashes int }

var _ decisionupdate.Client = (*troubled)(nil)

var resource = schema.GroupResource{Group: clusterv1beta1.GroupName, Resource: "placementdecisions"}

// request makes a request, if trouble lets it.
func (c *troubled) request(make func() error) error {
	kind := c.rng.IntN(60)
	switch kind {
	case 0:
		c.met.refused++
		return apierrors.NewTooManyRequests("later", 1)
	case 1:
		c.met.refused++
		return errors.New("the connection broke before the request")
	case 2, 3:
		c.met.crashes++
		c.crash()
	}
	err := make()
	c.between()
	if err == nil && kind == 4 {
		c.met.lost++
		return errors.New("the connection broke before the answer")
	}
	return err
}

func (c *troubled) store(o *pd) *pd {
	*c.version++
	o.ResourceVersion = strconv.Itoa(*c.version)
	if o.UID == "" {
		o.UID = types.UID("uid-" + o.ResourceVersion)
	}
	c.met.writes++
	c.site.put(o.Name, o)
	return o.DeepCopy()
}

// touch is another writer, which annotates the object now and then.
func (c *troubled) touch(name string) {
	if stored := c.site.objects[name]; stored != nil && c.rng.IntN(30) == 0 {
		next := stored.DeepCopy()
		*c.version++
		next.ResourceVersion = strconv.Itoa(*c.version)
		next.Annotations = map[string]string{"touched": next.ResourceVersion}
		c.site.put(name, next)
	}
}

// match answers as an API server does where an object is not what the request takes it for.
func (c *troubled) match(name, version string) error {
	switch stored := c.site.objects[name]; {
	case stored == nil:
		return apierrors.NewNotFound(resource, name)
	case stored.ResourceVersion != version:
		c.met.conflicts++
		return apierrors.NewConflict(resource, name, fmt.Errorf("version %s, want %s", version, stored.ResourceVersion))
	}
	return nil
}

func (c *troubled) Create(_ context.Context, o *pd, _ metav1.CreateOptions) (created *pd, err error) {
	return created, c.request(func() error {
		if c.site.objects[o.Name] != nil {
			return apierrors.NewAlreadyExists(resource, o.Name)
		}
		next := o.DeepCopy()
		next.UID, next.Status = "", clusterv1beta1.PlacementDecisionStatus{}
		created = c.store(next)
		return nil
	})
}

func (c *troubled) Update(_ context.Context, o *pd, _ metav1.UpdateOptions) (*pd, error) {
	return c.update(o, func(next *pd) { next.Labels, next.Annotations = o.Labels, o.Annotations })
}

func (c *troubled) UpdateStatus(_ context.Context, o *pd, _ metav1.UpdateOptions) (*pd, error) {
	return c.update(o, func(next *pd) { next.Status = o.Status })
}

func (c *troubled) update(o *pd, change func(next *pd)) (updated *pd, err error) {
	c.touch(o.Name)
	return updated, c.request(func() error {
		if err := c.match(o.Name, o.ResourceVersion); err != nil {
			return err
		}
		next := c.site.objects[o.Name].DeepCopy()
		change(next)
		updated = c.store(next.DeepCopy())
		return nil
	})
}

func (c *troubled) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	c.touch(name)
	return c.request(func() error {
		if err := c.match(name, *opts.Preconditions.ResourceVersion); err != nil {
			return err
		}
		c.met.writes++
		c.site.put(name, nil)
		return nil
	})
}

func (c *troubled) Get(_ context.Context, name string, _ metav1.GetOptions) (*pd, error) {
	if stored := c.site.objects[name]; stored != nil {
		return stored.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// apply carries out what trouble lets it, as a process that has just begun. It reports whether there was nothing to do.
func (c *troubled) apply(t *testing.T, update decisionupdate.Update) bool {
	if len(update.Steps) == 0 {
		return true
	}
	ctx, crash := context.WithCancel(t.Context())
	defer crash()
	c.crash = crash
	_, _ = decisionupdate.Applier{Client: c}.Apply(ctx, update) // whatever it met, the next one looks again
	return false
}

// dealt deals clusters into objects at random: those that always stay, and some that come and go. Objects are often full.
func dealt(rng *rand.Rand, stay int) []*pd {
	clusters := numbers(1, stay)
	for i := range rng.IntN(60) {
		clusters = append(clusters, 9000+(i*7+rng.IntN(7)))
	}
	if rng.IntN(3) > 0 {
		rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	} else { // one sorts in front
		clusters = append([]int{9900}, clusters...)
	}
	size := grouping.MaxDecisions - rng.IntN(3)*rng.IntN(50)
	var objects []*pd
	for len(clusters) > 0 {
		n := min(size, len(clusters))
		number := len(objects) + 1
		o := divided(clusters[:n])[0]
		o.Name = fmt.Sprintf("web-decision-%d", number)
		o.Labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(number / 2)
		objects, clusters = append(objects, o), clusters[n:]
	}
	return objects
}

// D5, D8, D16, D17: whatever happens to the requests, no cluster that stays is lost at the source, by a mirror that the source waits for,
// or by a mirror that plans, with the same faults of its own requests. No object has more than 100 clusters. With -writes 1000000 for the long run.
func TestTroubleLosesNoCluster(t *testing.T) {
	rng := rand.New(rand.NewPCG(1552, 19))
	var met, metThere trouble
	version := 0
	for run := 0; met.writes < *writes; run++ {
		stay := 100 * (1 + rng.IntN(4))
		stored := dealt(rng, stay)
		stays := map[string]bool{}
		for _, c := range numbers(1, stay) {
			stays[fmt.Sprintf("c%04d", c)] = true
		}
		for _, o := range stored {
			version++
			o.ResourceVersion, o.UID = strconv.Itoa(version), types.UID("uid-"+strconv.Itoa(version))
		}
		source := newSite(stored, stays)
		writer := &troubled{site: source, rng: rng, version: &version, met: &met}
		waits := run%2 == 0 // the source waits for a mirror that copies; otherwise there is one that plans
		copies := newFollower(source, rng)
		plans := &troubled{site: newSite(stored, stays), rng: rng, version: &version, met: &metThere, between: func() {}}
		shown := [][]*pd{source.list()} // states of the source that the mirror has not skipped
		look := func() bool {
			shown = shown[rng.IntN(len(shown)):]
			update, err := mirror.Diff(plans.site.list(), shown[0], rolling)
			if err != nil {
				t.Error(err) // and go on: this may be a goroutine of the Applier
				return true
			}
			return plans.apply(t, update)
		}
		writer.between = func() {
			if !waits {
				if shown = append(shown, source.list()); rng.IntN(4) == 0 {
					look()
				}
			}
			for waits && rng.IntN(3) == 0 && copies.copy() {
				continue
			}
		}
		for range 8 {
			desired := dealt(rng, stay)
			for range rng.IntN(40) { // until it is done, or something else is desired
				update, err := decisionupdate.Diff(source.list(), desired, rolling)
				if err != nil {
					t.Fatal(err)
				}
				for waits && len(update.Steps) > 0 {
					update.Steps = update.Steps[:1]
					objects, _, err := mirror.Behind(update.Steps[0], source.list(), copies.to.list())
					if err != nil {
						t.Fatal(err)
					}
					if len(objects) == 0 {
						break
					}
					if !copies.copy() {
						t.Fatalf("D17: the mirror has copied everything, yet %v are behind", objects)
					}
				}
				if writer.apply(t, update) {
					break
				}
			}
		}
		there := copies.to
		if !waits {
			there = plans.site
			for range 1000 {
				if shown = shown[len(shown)-1:]; look() {
					break
				}
			}
		}
		for where, s := range map[string]*site{"source": source, "mirror": there} {
			if len(s.absent) > 0 || s.refused > 0 {
				t.Fatalf("D5, D16, D17: run %d, the source waits: %v: in the %s clusters %v are absent, %d objects over %d",
					run, waits, where, s.absent, s.refused, grouping.MaxDecisions)
			}
		}
		if !waits {
			if rest, err := mirror.Diff(there.list(), source.list(), rolling); err != nil || len(rest.Steps) > 0 {
				t.Fatalf("D16: run %d: the mirror is not as the source: %v\n%s", run, err, rest)
			}
		}
	}
	t.Logf("source: %+v; planning mirror: %+v", met, metThere)
	for _, c := range []trouble{met, metThere} {
		if c.conflicts == 0 || c.refused == 0 || c.lost == 0 || c.crashes == 0 {
			t.Errorf("there was too little trouble to prove anything: %+v", c)
		}
	}
}
