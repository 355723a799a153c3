// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// designFleet is the design document's fleet as a user would have it in a file: 10 canaries in the west,
// 10 in the east and 300 others, and 5 clusters that the placement's predicate leaves out.
func designFleet() string {
	var b strings.Builder
	b.WriteString("# The design document's clusters. fleet_test.go writes this file: go test ./simulate -run Fleet -update\n")
	cluster := func(name, labels string) {
		fmt.Fprintf(&b, `---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: %s
  labels: {%s}
spec: {hubAcceptsClient: true}
`, name, labels)
	}
	for i := range 10 {
		cluster(fmt.Sprintf("canary-east-%02d", i+1), `common-profile: "true", prod-canary-east: ""`)
	}
	for i := range 10 {
		cluster(fmt.Sprintf("canary-west-%02d", i+1), `common-profile: "true", prod-canary-west: ""`)
	}
	for i := range 5 {
		cluster(fmt.Sprintf("lab-%d", i+1), `common-profile: "false"`)
	}
	for i := range 300 {
		cluster(fmt.Sprintf("site-%03d", i+1), `common-profile: "true"`)
	}
	return b.String()
}

func TestDesignFleetIsTheFileInTestdata(t *testing.T) {
	golden(t, filepath.Join("testdata", "design", "clusters.yaml"), designFleet())
}
