// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/grouping"
)

var writes = flag.Int("writes", 3000, "how many writes the mirror stores, in the test of trouble")

// definition is the published schema of a slice, by which an API server rejects writes.
func definition(t *testing.T) *validate.SchemaValidator {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-inventory-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/crd/bases/multicluster.x-k8s.io_placementdecisions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	var s spec.Schema
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &s); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(&s, nil, "", strfmt.Default)
}

// trouble counts faults.
type trouble struct{ writes, conflicts, refused, lost, crashes int }

// memory is a hub in memory: it shows a source, and stores slices. Requests for slices meet conflicts, are rejected or lose
// their answers, and some kill the process.
type memory struct {
	client.Client // panics for other methods
	mu            sync.Mutex
	t             *testing.T
	rng           *rand.Rand
	crd           *validate.SchemaValidator
	source        map[string]*clusterv1beta1.PlacementDecision
	placement     clusterv1beta1.Placement
	slices        map[string]*sig.PlacementDecision
	version       int
	crash         context.CancelFunc // of the present process
	met           *trouble

	stays func(cluster string) bool
	in    map[string]int // by cluster: the number of slices that have it
}

var resource = schema.GroupResource{Group: sig.Group, Resource: "placementdecisions"}

func (m *memory) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch l := list.(type) {
	case *clusterv1beta1.PlacementDecisionList:
		for _, o := range m.source {
			l.Items = append(l.Items, *o.DeepCopy())
		}
	case *sig.PlacementDecisionList:
		for _, s := range m.slices {
			l.Items = append(l.Items, *s.DeepCopy())
		}
	}
	return nil
}

func (m *memory) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch o := o.(type) {
	case *clusterv1beta1.Placement:
		m.placement.DeepCopyInto(o)
	case *sig.PlacementDecision:
		if m.slices[key.Name] == nil {
			return apierrors.NewNotFound(resource, key.Name)
		}
		m.slices[key.Name].DeepCopyInto(o)
	}
	return nil
}

func (m *memory) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return m.request(o.GetName(), func() error {
		if m.slices[o.GetName()] != nil {
			return apierrors.NewAlreadyExists(resource, o.GetName())
		}
		return m.store(o.(*sig.PlacementDecision))
	})
}

func (m *memory) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return m.request(o.GetName(), func() error {
		if err := m.match(o.GetName(), o.GetResourceVersion()); err != nil {
			return err
		}
		return m.store(o.(*sig.PlacementDecision))
	})
}

func (m *memory) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	return m.request(o.GetName(), func() error {
		if err := m.match(o.GetName(), *options.Preconditions.ResourceVersion); err != nil {
			return err
		}
		m.met.writes++
		m.put(o.GetName(), nil)
		return nil
	})
}

func (m *memory) match(name, version string) error {
	switch stored := m.slices[name]; {
	case stored == nil:
		return apierrors.NewNotFound(resource, name)
	case stored.ResourceVersion != version:
		m.met.conflicts++
		return apierrors.NewConflict(resource, name, fmt.Errorf("version %s, want %s", version, stored.ResourceVersion))
	}
	return nil
}

// request makes a request, unless a fault prevents it.
func (m *memory) request(name string, make func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := m.rng.IntN(60)
	switch kind {
	case 0:
		m.met.refused++
		return apierrors.NewTooManyRequests("later", 1)
	case 1:
		if s := m.slices[name]; s != nil { // another writer annotates it
			m.version++
			s.Annotations, s.ResourceVersion = maps.Clone(s.Annotations), strconv.Itoa(m.version)
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "touched", s.ResourceVersion)
		}
	case 2:
		m.met.crashes++
		m.crash()
	}
	if err := make(); err != nil {
		return err
	}
	if kind == 3 {
		m.met.lost++
		return errors.New("the connection broke before the answer")
	}
	return nil
}

// store stores a slice if its schema allows it.
func (m *memory) store(s *sig.PlacementDecision) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	if err != nil {
		return err
	}
	if result := m.crd.Validate(object); !result.IsValid() {
		m.t.Errorf("the API server refuses %s: %v", s.Name, result.AsError())
	}
	m.version++
	s.ResourceVersion = strconv.Itoa(m.version)
	m.met.writes++
	m.put(s.Name, s.DeepCopy())
	return nil
}

// put stores or deletes a slice, and looks for clusters that are in no slice any more.
func (m *memory) put(name string, s *sig.PlacementDecision) {
	before := m.slices[name]
	delete(m.slices, name)
	if s != nil {
		m.slices[name] = s
		for _, d := range s.Decisions {
			m.in[d.ClusterProfileRef.Name]++
		}
	}
	if before == nil {
		return
	}
	for _, d := range before.Decisions {
		cluster := d.ClusterProfileRef.Name
		if m.in[cluster]--; m.in[cluster] == 0 && m.stays(cluster) {
			m.t.Errorf("after write %d, of %s, %s is in no slice", m.met.writes, name, cluster)
		}
	}
}

// deal generates the next objects of the source: clusters that stay selected, and others, in objects that are often full.
func (m *memory) deal(stay int) []*clusterv1beta1.PlacementDecision {
	var clusters []string
	for i := range stay {
		clusters = append(clusters, fmt.Sprintf("stays-%d", i))
	}
	for i := range m.rng.IntN(60) {
		clusters = append(clusters, fmt.Sprintf("goes-%d", i*7+m.rng.IntN(7)))
	}
	m.rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	var objects []*clusterv1beta1.PlacementDecision
	for part := range slices.Chunk(clusters, grouping.MaxDecisions-m.rng.IntN(3)*m.rng.IntN(50)) {
		o := &clusterv1beta1.PlacementDecision{}
		o.Namespace, o.Name = web.Namespace, fmt.Sprintf("web-decision-%d", len(objects)+1)
		o.Labels = map[string]string{clusterv1beta1.PlacementLabel: web.Name, clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(len(objects) / 2)}
		for _, cluster := range part {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
		}
		objects = append(objects, o)
	}
	return objects
}

// look is a process that reconciles once.
func (m *memory) look(mirror *mirrorer) error {
	ctx, crash := context.WithCancel(m.t.Context())
	defer crash()
	m.crash = crash
	_, err := mirror.Reconcile(ctx, reconcile.Request{NamespacedName: web})
	return err
}

// Under any faults of requests, the mirror drops no cluster that stays selected while its source is updated, and writes no
// slice that the published schema rejects. In the end the slices are complete. Use -writes 1000000 for a long run.
func TestTroubleLosesNoCluster(t *testing.T) {
	crd, met := definition(t), &trouble{}
	over, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&sig.PlacementDecision{Decisions: make([]sig.ClusterDecision, 101)})
	if err != nil || crd.Validate(over).IsValid() {
		t.Fatalf("the definition allows 101 clusters, so this proves nothing: %v", err)
	}
	rng := rand.New(rand.NewPCG(5313, 19))
	for met.writes < *writes && !t.Failed() {
		m := &memory{t: t, rng: rng, crd: crd, met: met, source: map[string]*clusterv1beta1.PlacementDecision{}, slices: map[string]*sig.PlacementDecision{},
			in: map[string]int{}, stays: func(cluster string) bool { return strings.HasPrefix(cluster, "stays-") }}
		m.placement.Namespace, m.placement.Name = web.Namespace, web.Name
		mirror := &mirrorer{source: m, client: m, live: m, convention: inventory.Convention{Profiles: "fleet", Scheduler: "cohort"}}
		stay := 100 * (1 + rng.IntN(4))
		for range 8 {
			desired := m.deal(stay)
			update, err := decisionupdate.Diff(slices.Collect(maps.Values(m.source)), desired, strategy)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range update.Steps {
				for _, i := range rng.Perm(len(step)) {
					if w := step[i]; w.To == nil {
						delete(m.source, w.Name())
					} else {
						m.source[w.Name()] = w.To
					}
					if rng.IntN(3) == 0 { // the mirror lags
						_ = m.look(mirror) // the next reconcile retries
					}
				}
			}
			if m.placement.Status, err = grouping.Status(desired); err != nil {
				t.Fatal(err)
			}
		}
		for n := 0; ; n++ {
			err := m.look(mirror)
			if err == nil {
				break
			}
			if n == 1000 {
				t.Fatal(err)
			}
		}
		groups, err := inventory.Read(mirror.convention, slices.Collect(maps.Values(m.slices)), nil)
		if err != nil || groups.Incomplete() != "" {
			t.Fatalf("in the end a reader finds %q, %v", groups.Incomplete(), err)
		}
	}
	t.Logf("%+v", *met)
	if met.conflicts == 0 || met.refused == 0 || met.lost == 0 || met.crashes == 0 {
		t.Errorf("there was too little trouble to prove anything: %+v", *met)
	}
}
