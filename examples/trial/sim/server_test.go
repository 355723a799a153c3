// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var widgets = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgets"}

func definitions(t *testing.T) Definitions {
	t.Helper()
	d, err := ReadDefinitions("testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return d.And(Core())
}

func widget(name, color string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": map[string]any{"color": color},
	}}
}

func widgetsOf(c *rest.Config) dynamic.ResourceInterface {
	return dynamic.NewForConfigOrDie(c).Resource(widgets).Namespace("ns")
}

// must stops a test whose preconditions fail.
func must[T any](v T, err error) func(*World) T {
	return func(w *World) T {
		w.T.Helper()
		if err != nil {
			w.T.Fatal(err)
		}
		return v
	}
}

func play(t *testing.T, o Options, f func(w *World, s *Server)) *Record {
	t.Helper()
	d := definitions(t)
	return Play(t, o, func(w *World) { f(w, w.NewServer("hub", d)) })
}

// TestDefinitionsServe says that objects have what their definition says: defaults, validation, a status subresource, a
// generation.
func TestDefinitionsServe(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		c, ctx := widgetsOf(s.Config("me")), w.Context()
		made := must(c.Create(ctx, widget("a", "red"), metav1.CreateOptions{}))(w)
		if replicas, _, _ := unstructured.NestedInt64(made.Object, "spec", "replicas"); replicas != 1 {
			w.T.Errorf("the default of replicas is %d, expected 1", replicas)
		}
		if _, err := c.Create(ctx, widget("b", "purple"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			w.T.Errorf("a color that is none: %v, expected that it is invalid", err)
		}
		_ = unstructured.SetNestedField(made.Object, "done", "status", "phase")
		_ = unstructured.SetNestedField(made.Object, "blue", "spec", "color")
		status := must(c.UpdateStatus(ctx, made, metav1.UpdateOptions{}))(w)
		if color, _, _ := unstructured.NestedString(status.Object, "spec", "color"); color != "red" || status.GetGeneration() != 1 {
			w.T.Errorf("a write of the status made the color %s and the generation %d", color, status.GetGeneration())
		}
		if _, err := c.Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			w.T.Errorf("a write with an old resourceVersion: %v, expected a conflict", err)
		}
	})
}

// TestCoreKinds says that typed clients of the core kinds see the core group in objects, errors and watches.
func TestCoreKinds(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		ctx := w.Context()
		c := kubernetes.NewForConfigOrDie(s.Config("me")).CoreV1().ConfigMaps("ns")
		watch := must(c.Watch(ctx, metav1.ListOptions{}))(w)
		defer watch.Stop()
		made := must(c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}, Data: map[string]string{"a": "b"}}, metav1.CreateOptions{}))(w)
		if made.Data["a"] != "b" || !strings.HasPrefix(made.Name, "x-") || made.ManagedFields[0].APIVersion != "v1" {
			w.T.Errorf("made %v", made)
		}
		if e := <-watch.ResultChan(); e.Object.(*corev1.ConfigMap).Name != made.Name {
			w.T.Errorf("watched %v", e)
		}
		_, err := c.Get(ctx, "none", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) || strings.Contains(err.Error(), coreGroup) {
			w.T.Errorf("what is not there: %v", err)
		}
	})
}

// TestSecondServerIsBehind says that a server's watch caches are late by the configured time, and that other reads are not.
func TestSecondServerIsBehind(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		late := s.Second("late", 5*time.Second)
		ctx, here, there := w.Context(), widgetsOf(s.Config("me")), widgetsOf(late.Config("me"))
		count := func(version string) int {
			return len(must(there.List(ctx, metav1.ListOptions{ResourceVersion: version}))(w).Items)
		}
		if count("0") != 0 {
			w.T.Error("there is something at first")
		}
		must(here.Create(ctx, widget("a", "red"), metav1.CreateOptions{}))(w)
		for _, x := range []struct {
			after time.Duration
			count int
		}{{0, 0}, {4 * time.Second, 0}, {time.Second, 1}} {
			time.Sleep(x.after)
			if n := count("0"); n != x.count {
				w.T.Errorf("after %v the cache has %d, expected %d", w.Since(), n, x.count)
			}
			if n := count(""); n != 1 {
				w.T.Errorf("after %v a list that counts has %d, expected 1", w.Since(), n)
			}
		}
	})
}

// TestSeedDecides says that a seed has one history, even after other plays in the process, and that another seed has
// another.
func TestSeedDecides(t *testing.T) {
	busy := func(seed uint64) *Record {
		return play(t, Options{Seed: seed}, func(w *World, s *Server) {
			for _, actor := range []string{"a", "b", "c", "d"} {
				w.Go(actor, func(ctx context.Context) {
					c := widgetsOf(s.Config(actor))
					for range 20 {
						if made, err := c.Create(ctx, widget("same", "red"), metav1.CreateOptions{}); err == nil {
							_ = c.Delete(ctx, made.GetName(), metav1.DeleteOptions{})
						}
					}
				})
			}
			w.Settle(time.Minute, time.Hour)
		})
	}
	first, other, again := busy(1), busy(2), busy(1)
	if first.Hash != again.Hash || first.Writes != again.Writes || first.Hash == other.Hash || first.Writes == other.Writes {
		t.Errorf("seed 1: %+v, again: %+v, seed 2: %+v", first, again, other)
	}
	if first.Messages < 80 {
		t.Errorf("only %d messages", first.Messages)
	}
}

// TestEventsOfTheCoreGroupAreSelectedByTheirObject says that lists and watches of core Events select by the object and the reason, as
// `kubectl describe` asks for them, also from the watch cache.
func TestEventsOfTheCoreGroupAreSelectedByTheirObject(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		for _, server := range []*Server{s, s.Second("cached", 0)} {
			ctx, events := w.Context(), kubernetes.NewForConfigOrDie(server.Config("me")).CoreV1().Events(server.Name())
			selects := metav1.ListOptions{FieldSelector: "involvedObject.name=b,reason=Painted"}
			watched := must(events.Watch(ctx, selects))(w)
			for _, told := range []struct{ object, reason string }{{"a", "Painted"}, {"b", "Dried"}, {"b", "Painted"}} {
				must(events.Create(ctx, &corev1.Event{
					ObjectMeta:     metav1.ObjectMeta{Name: told.object + "." + strings.ToLower(told.reason)},
					InvolvedObject: corev1.ObjectReference{Kind: "Widget", Namespace: server.Name(), Name: told.object}, Reason: told.reason,
				}, metav1.CreateOptions{}))(w)
			}
			if found := must(events.List(ctx, selects))(w); len(found.Items) != 1 || found.Items[0].Name != "b.painted" {
				w.T.Errorf("%s lists %v", server.Name(), found.Items)
			}
			if first := (<-watched.ResultChan()).Object.(*corev1.Event); first.Name != "b.painted" {
				w.T.Errorf("%s shows %s first", server.Name(), first.Name)
			}
			watched.Stop()
		}
	})
}
