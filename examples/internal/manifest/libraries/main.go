// SPDX-License-Identifier: Apache-2.0

// Libraries reads clusters as kubectl prints them with each library that package manifest could use, and prints the cost:
// it decodes the items of the list one by one, on all CPUs, into ManagedClusters. With -print it prints such a list, and a
// rollout over all clusters, for kubectl cohort.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	goccy "github.com/goccy/go-yaml"
	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	k8s "sigs.k8s.io/yaml"
)

// libraries turn an item of YAML into JSON.
var libraries = []struct {
	name   string
	toJSON func(item []byte) ([]byte, error)
}{
	{"sigs.k8s.io/yaml, strict", k8s.YAMLToJSONStrict},
	{"go.yaml.in/yaml/v2", func(item []byte) ([]byte, error) {
		var v any
		if err := yaml2.Unmarshal(item, &v); err != nil {
			return nil, err
		}
		return json.Marshal(withNames(v))
	}},
	{"go.yaml.in/yaml/v3", func(item []byte) ([]byte, error) {
		var v any
		if err := yaml3.Unmarshal(item, &v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}},
	{"github.com/goccy/go-yaml", goccy.YAMLToJSON},
}

// withNames converts maps to string keys, as JSON requires.
func withNames(v any) any {
	switch v := v.(type) {
	case map[any]any:
		all := make(map[string]any, len(v))
		for key, value := range v {
			all[fmt.Sprint(key)] = withNames(value)
		}
		return all
	case []any:
		for i := range v {
			v[i] = withNames(v[i])
		}
	}
	return v
}

func main() {
	n := flag.Int("n", 100_000, "clusters")
	one := flag.String("only", "", "a library; all if it is empty, each in a process of its own")
	prints := flag.Bool("print", false, "print a rollout over the clusters")
	flag.Parse()
	if *prints {
		w := bufio.NewWriter(os.Stdout)
		defer w.Flush()
		w.WriteString(rollout)
		w.Write(items(*n))
		w.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
		return
	}
	for _, library := range libraries {
		switch *one {
		case "":
			program, err := os.Executable()
			if err != nil {
				panic(err)
			}
			cmd := exec.Command(program, "-n", fmt.Sprint(*n), "-only", library.name)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				panic(err)
			}
		case library.name:
			measure(library.name, library.toJSON, *n)
		}
	}
}

// items are n clusters, of equal length.
func items(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.ReplaceAll(cluster, "000001", fmt.Sprintf("%06d", i)))
	}
	return b.Bytes()
}

// measure reads n clusters and prints the cost.
func measure(name string, toJSON func([]byte) ([]byte, error), n int) {
	text := items(n)
	before := used()
	all := make([]clusterv1.ManagedCluster, n)
	var next atomic.Int64
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				item := bytes.Clone(text[i*len(cluster) : (i+1)*len(cluster)])
				item[0] = ' '
				data, err := toJSON(item)
				if err == nil {
					err = json.Unmarshal(data, &all[i])
				}
				if err != nil || all[i].Name == "" {
					panic(fmt.Sprint(err, all[i]))
				}
			}
		})
	}
	done.Wait()
	after := used()
	cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	fmt.Printf("%-26s %7d clusters, %3d MB: %5.1f s of CPU, at most %4d MB\n", name, n, len(text)>>20, cpu.Seconds(), after.Maxrss>>10)
}

func used() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u
}

// rollout is a rollout over the clusters, before the items of the list.
const rollout = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: all, namespace: fleet}
spec: {}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: fleet}
spec: {clusterSet: default}
---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: web, namespace: fleet}
spec:
  manifestWorkTemplate: {}
  placementRefs: [{name: all, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 500}}}]
---
apiVersion: v1
items:
`

// cluster is an item of the list that kubectl prints.
const cluster = `- apiVersion: cluster.open-cluster-management.io/v1
  kind: ManagedCluster
  metadata:
    annotations:
      open-cluster-management/created-via: other
    creationTimestamp: "2025-01-01T00:00:00Z"
    finalizers:
    - managedcluster-import-controller.open-cluster-management.io/cleanup
    - cluster.open-cluster-management.io/api-resource-cleanup
    generation: 2
    labels:
      cloud: Amazon
      cluster.open-cluster-management.io/clusterset: default
      name: cluster-000001
      vendor: OpenShift
    name: cluster-000001
    resourceVersion: "123456"
    uid: 01234567-89ab-cdef-0123-456789abcdef
  spec:
    hubAcceptsClient: true
    leaseDurationSeconds: 60
    managedClusterClientConfigs:
    - caBundle: aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=
      url: https://api.cluster-000001.example.com:6443
  status:
    allocatable:
      cpu: "12"
      memory: 32000Mi
    capacity:
      cpu: "16"
      memory: 34000Mi
    clusterClaims:
    - name: id.k8s.io
      value: cluster-000001
    - name: version.openshift.io
      value: 4.16.3
    conditions:
    - lastTransitionTime: "2025-01-01T00:00:00Z"
      message: Accepted by hub cluster admin
      reason: HubClusterAdminAccepted
      status: "True"
      type: HubAcceptedManagedCluster
    - lastTransitionTime: "2025-01-01T00:00:00Z"
      message: 'Managed cluster is available: all is well with the kube-apiserver of the
        cluster and with its agents'
      reason: ManagedClusterAvailable
      status: "True"
      type: ManagedClusterConditionAvailable
    version:
      kubernetes: v1.29.6
`
