// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestFaultsComeInTheirShare says that refused requests are never carried out, requests with lost answers always are, and
// that both are as frequent as configured.
func TestFaultsComeInTheirShare(t *testing.T) {
	const requests = 500
	for _, x := range []struct {
		network Network
		err     error
		stored  bool
	}{
		{Network{Refused: 0.1}, errRefused, false},
		{Network{Lost: 0.1}, errLost, true},
	} {
		play(t, Options{Seed: 5, Network: x.network}, func(w *World, s *Server) {
			c, failed := widgetsOf(s.Config("me")), 0
			for i := range requests {
				before := s.Store().Revision()
				_, err := c.Create(w.Context(), widget(fmt.Sprint("w", i), "red"), metav1.CreateOptions{})
				stored := s.Store().Revision() > before
				if err == nil && stored {
					continue
				}
				if failed++; !errors.Is(err, x.err) || stored != x.stored {
					w.T.Fatalf("found %v, stored %v", err, stored)
				}
			}
			if failed < requests/20 || failed > requests*3/20 {
				w.T.Errorf("%d of %d failed with %v", failed, requests, x.err)
			}
		})
	}
}

// TestCutLineHoldsWhatIsSent says that messages on a cut line arrive if it is restored soon, and never if the client gave
// up before.
func TestCutLineHoldsWhatIsSent(t *testing.T) {
	for _, x := range []struct {
		why    string
		mended time.Duration
		err    error
		after  time.Duration
		stored bool
	}{
		{"mended soon", 10 * time.Second, nil, 10 * time.Second, true},
		{"the client gives up", 2 * time.Minute, errSilent, silence, false},
	} {
		play(t, Options{}, func(w *World, s *Server) {
			w.Go("mender", func(context.Context) {
				time.Sleep(x.mended)
				w.Mend("me", s)
			})
			w.Cut("me", s)
			began := time.Now()
			_, err := widgetsOf(s.Config("me")).Create(w.Context(), widget("a", "red"), metav1.CreateOptions{})
			took := time.Since(began)
			time.Sleep(5 * time.Minute)
			if stored := s.Store().Revision() > 1; !errors.Is(err, x.err) || took < x.after || took > x.after+time.Second || stored != x.stored {
				w.T.Errorf("%s: %v after %v, stored %v", x.why, err, took, stored)
			}
			if _, err := widgetsOf(s.Config("other")).List(w.Context(), metav1.ListOptions{}); err != nil {
				w.T.Errorf("another actor: %v", err)
			}
		})
	}
}

// TestWatchOnCutLineEnds says that a watch gets no events while its line is cut, and ends when the client notices.
func TestWatchOnCutLineEnds(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		events := must(widgetsOf(s.Config("me")).Watch(w.Context(), metav1.ListOptions{}))(w)
		w.Cut("me")
		must(widgetsOf(s.Config("other")).Create(w.Context(), widget("a", "red"), metav1.CreateOptions{}))(w)
		began := time.Now()
		if e, open := <-events.ResultChan(); open && e.Type != watch.Error {
			w.T.Errorf("found %v", e)
		}
		if took := time.Since(began); took < silence-time.Second || took > silence {
			w.T.Errorf("it ended after %v", took)
		}
	})
}

// TestStoppedServerKeepsItsStore says that connections to a stopped server break, and that it has its store again after a
// start.
func TestStoppedServerKeepsItsStore(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		c := widgetsOf(s.Config("me"))
		made := must(c.Create(w.Context(), widget("a", "red"), metav1.CreateOptions{}))(w)
		events := must(c.Watch(w.Context(), metav1.ListOptions{ResourceVersion: made.GetResourceVersion()}))(w)
		s.Stop()
		if e, open := <-events.ResultChan(); open && e.Type != watch.Error {
			w.T.Errorf("found %v", e)
		}
		if _, err := c.Get(w.Context(), "a", metav1.GetOptions{}); !errors.Is(err, errRefused) {
			w.T.Errorf("a stopped server: %v", err)
		}
		s.Start()
		again := must(c.Get(w.Context(), "a", metav1.GetOptions{}))(w)
		if again.GetUID() != made.GetUID() || again.GetResourceVersion() != made.GetResourceVersion() {
			w.T.Errorf("found %v, expected %v", again, made)
		}
	})
}

// TestCrashedProcessIsToldNothing says that requests of a crashed process are carried out, and that its clients are dead.
func TestCrashedProcessIsToldNothing(t *testing.T) {
	play(t, Options{}, func(w *World, s *Server) {
		var created, later error
		p := w.Go("me", func(ctx context.Context) {
			c := widgetsOf(s.Config("me"))
			_, created = c.Create(context.Background(), widget("a", "red"), metav1.CreateOptions{})
			_, later = c.List(context.Background(), metav1.ListOptions{})
		})
		time.Sleep(w.network.Least + w.network.Spread)
		underWay := func() bool {
			w.network.mu.Lock()
			defer w.network.mu.Unlock()
			return len(w.network.open) > 0
		}
		for s.Store().Revision() == 1 && !underWay() {
			time.Sleep(100 * time.Microsecond)
		}
		p.Crash()
		time.Sleep(time.Second)
		if !errors.Is(created, errCrashed) || !errors.Is(later, errCrashed) || s.Store().Revision() != 2 {
			w.T.Errorf("%v, %v, revision %d", created, later, s.Store().Revision())
		}
		must(widgetsOf(s.Config("me")).Get(w.Context(), "a", metav1.GetOptions{}))(w)
	})
}

// TestTiesFollowNames says that of messages that would arrive at the same instant the name decides which is first.
func TestTiesFollowNames(t *testing.T) {
	play(t, Options{}, func(w *World, _ *Server) {
		order := make(chan string, 3)
		due := time.Now().Add(time.Second)
		for _, name := range []string{"c", "a", "b"} {
			w.network.send(&parcel{name: name, deliver: func() { order <- name }}, 0, due)
		}
		time.Sleep(2 * time.Second)
		if found := <-order + <-order + <-order; found != "abc" {
			w.T.Errorf("the order is %s", found)
		}
	})
}

// TestLogHasMessagesAndWrites says what a log contains, and that a play without a log has the same hash.
func TestLogHasMessagesAndWrites(t *testing.T) {
	var log bytes.Buffer
	f := func(w *World, s *Server) {
		must(widgetsOf(s.Config("me")).Create(w.Context(), widget("a", "red"), metav1.CreateOptions{}))(w)
	}
	logged, silent := play(t, Options{Log: &log}, f), play(t, Options{}, f)
	if logged.Hash != silent.Hash {
		t.Errorf("%+v with a log, %+v without", logged, silent)
	}
	for _, expected := range []string{" > me hub POST /apis/shop.example.com/v1/namespaces/ns/widgets", " = hub 2 widgets.shop.example.com ns/a ", `"color":"red"`, ": 201, "} {
		if !strings.Contains(log.String(), expected) {
			t.Errorf("there is no %q in\n%s", expected, log.String())
		}
	}
}
