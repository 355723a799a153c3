// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// server is shared by all tests of the package, each in a namespace of its own.
var server *apiserver.Server

func TestMain(m *testing.M) {
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the server is talkative
	os.Exit(runWithServer(m))
}

func runWithServer(m *testing.M) int {
	dir, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	crds, err := apiserver.OCMDefinitions(
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"addon/v1alpha1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
	)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	start := time.Now()
	if server, err = apiserver.Start(dir, crds...); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("API server ready after %v\n", time.Since(start).Round(time.Millisecond))
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

func clusters(t testing.TB) clusterclient.Interface {
	t.Helper()
	client, err := clusterclient.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func addons(t testing.TB) addonclient.Interface {
	t.Helper()
	client, err := addonclient.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// D7: what the package decisionupdate, and the model of an API server in its tests, take for granted.
func TestLabelsAndStatusAreTwoWrites(t *testing.T) {
	ctx := t.Context()
	client := clusters(t).ClusterV1beta1().PlacementDecisions("two-writes")
	created, err := client.Create(ctx, pd("d", "0", "a", "b"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a create drops the status", func(t *testing.T) {
		if n := len(created.Status.Decisions); n != 0 {
			t.Errorf("%d decisions, want none", n)
		}
	})
	t.Run("an update of the status ignores the labels", func(t *testing.T) {
		change := created.DeepCopy()
		change.Labels["x"] = "y"
		change.Status = pd("d", "0", "a", "b").Status
		updated, err := client.UpdateStatus(ctx, change, metav1.UpdateOptions{})
		if err != nil || updated.Labels["x"] != "" || len(updated.Status.Decisions) != 2 {
			t.Errorf("labels %v, %d decisions, %v", updated.Labels, len(updated.Status.Decisions), err)
		}
	})
	t.Run("an update of the object ignores the status", func(t *testing.T) {
		change, _ := client.Get(ctx, "d", metav1.GetOptions{})
		change.Labels["x"] = "y"
		change.Status = clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{}}
		updated, err := client.Update(ctx, change, metav1.UpdateOptions{})
		if err != nil || updated.Labels["x"] != "y" || len(updated.Status.Decisions) != 2 {
			t.Errorf("labels %v, %d decisions, %v", updated.Labels, len(updated.Status.Decisions), err)
		}
	})
	t.Run("an old resourceVersion is a conflict", func(t *testing.T) {
		if _, err := client.UpdateStatus(ctx, created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("got %v, want a conflict", err)
		}
		old := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &created.UID, ResourceVersion: &created.ResourceVersion}}
		if err := client.Delete(ctx, "d", old); !apierrors.IsConflict(err) {
			t.Errorf("got %v, want a conflict", err)
		}
	})
	t.Run("D9 the server takes more than 100 decisions", func(t *testing.T) {
		change, _ := client.Get(ctx, "d", metav1.GetOptions{})
		for i := range 101 {
			change.Status.Decisions = append(change.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: strconv.Itoa(i)})
		}
		if _, err := client.UpdateStatus(ctx, change, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// pd builds a PlacementDecision of the placement web in a group.
func pd(name, index string, clusters ...string) *clusterv1beta1.PlacementDecision {
	o := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta1.PlacementLabel:          "web",
		clusterv1beta1.DecisionGroupIndexLabel: index,
		clusterv1beta1.DecisionGroupNameLabel:  "",
	}}}
	for _, c := range clusters {
		o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return o
}
