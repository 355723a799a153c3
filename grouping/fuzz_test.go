package grouping_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
)

// G10: exactly the decimal int32s of at least 0 are indexes.
func FuzzReadLabels(f *testing.F) {
	for _, s := range []string{"0", "7", "007", "2147483647", "2147483648", "-1", "+1", "", " 1", "1e3", "0x1", "1_0", "٣", "99999999999999999999"} {
		f.Add(s, "canary", "b a", "a c")
	}
	digits := regexp.MustCompile(`^[0-9]+$`)
	f.Fuzz(func(t *testing.T, index, name, clusters, more string) {
		value, _ := new(big.Int).SetString(index, 10)
		valid := digits.MatchString(index) && value.BitLen() <= 31
		stored := decisions{decision("d-2", index, name, more), decision("d-1", index, name, clusters)}
		g, err := grouping.Read(nil, stored)
		if (err == nil) != valid {
			t.Fatalf("index %q: error %v, want one: %v", index, err, !valid)
		}
		if err != nil {
			return
		}
		if want := (grouping.Key{Index: int32(value.Int64()), Name: name}); g.Len() != 1 || g.Key(0) != want {
			t.Fatalf("%v, want %v", g, want)
		}
		distinct := map[string]bool{}
		for _, d := range stored {
			for _, c := range d.Status.Decisions {
				distinct[c.ClusterName] = true
				if _, _, ok := g.Find(c.ClusterName); !ok {
					t.Fatalf("%q is lost", c.ClusterName)
				}
			}
		}
		if g.NumClusters() != len(distinct) || g.Size(0) != len(distinct) {
			t.Fatalf("%v of %d clusters, want %d", g, g.NumClusters(), len(distinct))
		}
	})
}

// G2, G5, G7: whatever JSON a strategy is, Divide gives an error or groups from which valid objects follow.
func FuzzDivideStrategy(f *testing.F) {
	for _, s := range []string{
		`{}`,
		`{"groupStrategy":{"clustersPerDecisionGroup":2}}`,
		`{"groupStrategy":{"clustersPerDecisionGroup":"34%"}}`,
		`{"groupStrategy":{"clustersPerDecisionGroup":"1e3%"}}`,
		`{"groupStrategy":{"decisionGroups":[{"groupName":"canary","groupClusterSelector":{"labelSelector":{"matchExpressions":[{"key":"canary","operator":"Exists"}]}}}]}}`,
		`{"groupStrategy":{"decisionGroups":[{"groupName":"eu","groupClusterSelector":{"claimSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["eu"]}]}}}]}}`,
		`{"groupStrategy":{"decisionGroups":[{"groupName":"-","groupClusterSelector":{"labelSelector":{"matchLabels":{"a b":"c"}}}}]}}`,
	} {
		f.Add([]byte(s))
	}
	clusters := fleet("e d+canary c+canary@eu b@eu a@us")
	f.Fuzz(func(t *testing.T, text []byte) {
		placement := newPlacement(intstr.IntOrString{})
		if json.Unmarshal(text, &placement.Spec.DecisionStrategy) != nil {
			return
		}
		g, err := grouping.Divide(placement, clusters)
		if err != nil {
			return
		}
		if len(members(g)) != len(clusters) {
			t.Fatalf("%d of %d clusters: %s", len(members(g)), len(clusters), show(g))
		}
		objects, err := g.Decisions(placement)
		if err != nil {
			t.Fatalf("divided, but %v", err)
		}
		checkObjects(t, objects)
		if back := mustReadWhole(t, placement, objects); !back.Equal(g) {
			t.Fatalf("read back %s, divided %s", show(back), show(g))
		}
	})
}
