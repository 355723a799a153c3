// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var (
	seeds  = flag.Uint64("seeds", 3, "how many seeds are played twice in this process, and once in another")
	first  = flag.Uint64("first", 0, "the first of the seeds")
	logs   = flag.String("logs", "", "a folder for the logs, to find with cmd/simdiff what a seed does not decide")
	hashes = flag.Bool("hashes", false, "print the hash of each seed, for a process that compares")
)

// eventful plays a world with all that a seed decides: users that write, an informer and its events, faults, partitions, a
// crash and a server that stops for a while.
func eventful(t *testing.T, seed, choices uint64) *Record {
	o := Options{Seed: seed, Choices: choices, Network: Network{WatchSpread: time.Second, Refused: 0.03, Lost: 0.03, CutEvery: 10 * time.Minute, CutLasts: time.Minute}}
	if *logs != "" {
		f, err := os.CreateTemp(*logs, fmt.Sprint(seed, "."))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		o.Log = f
	}
	return play(t, o, func(w *World, s *Server) {
		for _, actor := range []string{"anna", "bert", "carl"} {
			w.Go(actor, func(ctx context.Context) { paint(ctx, w, s, actor) })
		}
		answering := w.Go("worker", func(ctx context.Context) { answerAll(ctx, s) })
		time.Sleep(10 * time.Minute)
		answering.Crash()
		w.Go("worker", func(ctx context.Context) { answerAll(ctx, s) })
		s.Stop()
		time.Sleep(time.Minute)
		s.Start()
		time.Sleep(10 * time.Minute)
	})
}

// paint writes widgets until its context ends.
func paint(ctx context.Context, w *World, s *Server, actor string) {
	c, rng := widgetsOf(s.Config(actor)), w.Rand(actor)
	for sleep(ctx, time.Duration(rng.IntN(int(20*time.Second)))) == nil {
		o := widget(fmt.Sprint("w", rng.IntN(5)), []string{"red", "green", "blue"}[rng.IntN(3)])
		if _, err := c.Create(ctx, o, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			_ = c.Delete(ctx, o.GetName(), metav1.DeleteOptions{})
		}
	}
}

// answerAll writes the status of each widget that its informer shows.
func answerAll(ctx context.Context, s *Server) {
	client := dynamic.NewForConfigOrDie(s.Config("worker"))
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 10*time.Minute)
	informer := factory.ForResource(schema.GroupVersionResource(widgets)).Informer()
	news := make(chan *unstructured.Unstructured, 1000)
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { news <- o.(*unstructured.Unstructured) },
		UpdateFunc: func(_, o any) { news <- o.(*unstructured.Unstructured) },
	})
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	for {
		select {
		case o := <-news:
			o = o.DeepCopy()
			if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "seen" {
				continue
			}
			_ = unstructured.SetNestedField(o.Object, "seen", "status", "phase")
			_, _ = client.Resource(widgets).Namespace("ns").UpdateStatus(ctx, o, metav1.UpdateOptions{})
		case <-ctx.Done():
			return
		}
	}
}

// TestSameSeedSameHistory plays seeds twice in this process, the second time with other choices of selects, and once in a
// new process. It compares the hashes of all messages, writes and times.
func TestSameSeedSameHistory(t *testing.T) {
	var all []string
	for seed := *first; seed < *first+*seeds; seed++ {
		r := eventful(t, seed, 0)
		all = append(all, fmt.Sprint(seed, " ", r.Hash, " ", r.Messages))
	}
	if *hashes {
		fmt.Println(strings.Join(all, "\n"))
		return
	}
	for _, before := range all {
		var seed uint64
		_, _ = fmt.Sscan(before, &seed)
		r := eventful(t, seed, 1)
		if again := fmt.Sprint(seed, " ", r.Hash, " ", r.Messages); again != before {
			t.Errorf("again in this process: %s, before: %s", again, before)
		}
	}
	args := []string{"-test.run=^TestSameSeedSameHistory$", "-hashes", fmt.Sprint("-seeds=", *seeds), fmt.Sprint("-first=", *first), "-logs=" + *logs}
	out, err := exec.Command(os.Args[0], args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range all {
		if !strings.Contains(string(out), before+"\n") {
			t.Errorf("in another process there is no %q", before)
		}
	}
	t.Logf("%d seeds are the same, three times each; %s", *seeds, all[0])
}
