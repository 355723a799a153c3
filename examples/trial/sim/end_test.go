// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// quietly plays a world that ends with an error, and returns the error of the record.
func quietly(t *testing.T, o Options, f func(*World)) error {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	o = o.withDefaults()
	defer prepare(o.Seed)()
	r := &Record{}
	bubble(t, o, r, f)
	return r.Err
}

// TestGoroutinesThatAreLeftAreNamed says that a play that leaks goroutines fails, and names where they are and what started
// them.
func TestGoroutinesThatAreLeftAreNamed(t *testing.T) {
	err := quietly(t, Options{}, func(*World) { go leakingWorker(make(chan int)) })
	if err == nil || !strings.Contains(err.Error(), "leakingWorker") || !strings.Contains(err.Error(), "created by") {
		t.Errorf("found %v", err)
	}
	if err := quietly(t, Options{}, func(*World) {}); err != nil {
		t.Errorf("the next play: %v", err)
	}
}

func leakingWorker(never chan int) { <-never }

// TestProcessThatDoesNotReturnIsNamed says that a process is reported that outlives its context by more than the patience.
func TestProcessThatDoesNotReturnIsNamed(t *testing.T) {
	err := quietly(t, Options{Patience: time.Second}, func(w *World) {
		w.Go("stubborn", func(context.Context) { time.Sleep(time.Minute) })
	})
	if err == nil || !strings.Contains(err.Error(), "stubborn did not return within 1s") {
		t.Errorf("found %v", err)
	}
}

// TestWhatHoldsVirtualTimeIsNamed says that the goroutine that stops virtual time is named after a while of real time
// without a message.
func TestWhatHoldsVirtualTimeIsNamed(t *testing.T) {
	var mu sync.Mutex // locked outside of the bubble
	mu.Lock()
	reports := make(chan string, 100)
	before := abandon
	defer func() { abandon = before }()
	abandon = func(report string) {
		reports <- report
		mu.Unlock()
	}
	play(t, Options{Stalled: 50 * time.Millisecond}, func(w *World, s *Server) {
		waitForTheMutex(&mu)
	})
	if report := <-reports; !strings.Contains(report, "durably blocked") || !strings.Contains(report, "- sync.Mutex.Lock") || !strings.Contains(report, "waitForTheMutex") {
		t.Errorf("found %s", report)
	}
}

func waitForTheMutex(mu *sync.Mutex) { mu.Lock() }

// TestCompactedHistoryIsGone says that watches and lists from before a compaction are answered with 410, and later ones are
// not.
func TestCompactedHistoryIsGone(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		c, ctx := widgetsOf(s.Config("me")), w.Context()
		old := must(c.Create(ctx, widget("a", "red"), metav1.CreateOptions{}))(w)
		newer := must(c.Create(ctx, widget("b", "red"), metav1.CreateOptions{}))(w)
		exact := func(version string) metav1.ListOptions {
			return metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
		}
		if n := len(must(c.List(ctx, exact(old.GetResourceVersion())))(w).Items); n != 1 {
			w.T.Errorf("the list of then has %d", n)
		}
		must(c.Create(ctx, widget("c", "red"), metav1.CreateOptions{}))(w)
		s.Store().Compact(3)
		if _, err := c.List(ctx, exact(old.GetResourceVersion())); !apierrors.IsResourceExpired(err) {
			w.T.Errorf("a list from before: %v", err)
		}
		for _, x := range []struct {
			version string
			event   watch.EventType
		}{{"1", watch.Error}, {newer.GetResourceVersion(), watch.Added}} {
			events := must(c.Watch(ctx, metav1.ListOptions{ResourceVersion: x.version}))(w)
			if e := <-events.ResultChan(); e.Type != x.event || e.Type == watch.Error && !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
				w.T.Errorf("a watch from %s: %v", x.version, e)
			}
			events.Stop()
		}
	})
}

// TestHistoryIsCompactedRegularly says that a resourceVersion expires after ten minutes, as in Kubernetes.
func TestHistoryIsCompactedRegularly(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		c, ctx := widgetsOf(s.Config("me")), w.Context()
		must(c.Create(ctx, widget("a", "red"), metav1.CreateOptions{}))(w)
		must(c.Create(ctx, widget("b", "red"), metav1.CreateOptions{}))(w)
		must(c.Create(ctx, widget("c", "red"), metav1.CreateOptions{}))(w)
		time.Sleep(11 * time.Minute)
		events := must(c.Watch(ctx, metav1.ListOptions{ResourceVersion: "2"}))(w)
		defer events.Stop()
		if e := <-events.ResultChan(); !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
			w.T.Errorf("found %v", e)
		}
	})
}

// TestBookmarksComeFromTheWatchCache says that a watch of a server with caches gets bookmarks while nothing changes.
func TestBookmarksComeFromTheWatchCache(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		ctx := w.Context()
		c := widgetsOf(s.Second("cached", 0).Config("me"))
		events := must(c.Watch(ctx, metav1.ListOptions{ResourceVersion: "1", AllowWatchBookmarks: true}))(w)
		defer events.Stop()
		configMaps := dynamic.NewForConfigOrDie(s.Config("other")).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("ns")
		other := widget("x", "red")
		other.SetAPIVersion("v1")
		other.SetKind("ConfigMap")
		must(configMaps.Create(ctx, other, metav1.CreateOptions{}))(w)
		e := <-events.ResultChan()
		if e.Type != watch.Bookmark || w.Since() > 3*time.Minute {
			w.T.Errorf("found %v after %v", e, w.Since())
		}
	})
}

// TestSettleSaysWhy says that a world is idle when only leases and Events are written, and that otherwise the time runs
// out.
func TestSettleSaysWhy(t *testing.T) {
	for _, x := range []struct {
		writes   int
		expected Ending
		after    time.Duration
	}{{3, AllIdle, 3*10*time.Second + time.Minute}, {1000, TimeIsUp, time.Hour}} {
		play(t, Options{}, func(w *World, s *Server) {
			w.Go("me", func(ctx context.Context) {
				for range x.writes {
					c := widgetsOf(s.Config("me"))
					if _, err := c.Create(ctx, widget("a", "red"), metav1.CreateOptions{}); err != nil {
						_ = c.Delete(ctx, "a", metav1.DeleteOptions{})
					}
					if ctx.Err() != nil {
						return
					}
					time.Sleep(10 * time.Second)
				}
			})
			if found := w.Settle(time.Minute, time.Hour); found != x.expected || w.Since() < x.after-15*time.Second || w.Since() > x.after+time.Second {
				w.T.Errorf("%d writes: %s after %v", x.writes, found, w.Since())
			}
		})
	}
}

// TestWatchThatIsToldAllOutlivesCompaction says that an up-to-date watch without events survives compactions.
func TestWatchThatIsToldAllOutlivesCompaction(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		c, ctx := widgetsOf(s.Config("me")), w.Context()
		events := must(c.Watch(ctx, metav1.ListOptions{ResourceVersion: "1", FieldSelector: "metadata.name=b"}))(w)
		defer events.Stop()
		must(c.Create(ctx, widget("a", "red"), metav1.CreateOptions{}))(w)
		time.Sleep(time.Minute)
		s.Store().Compact(0)
		must(c.Create(ctx, widget("b", "red"), metav1.CreateOptions{}))(w)
		if e := <-events.ResultChan(); e.Type != watch.Added {
			w.T.Errorf("found %v", e)
		}
	})
}
