// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cohort-ocm/cohort/grouping"
)

// G10, G13: exactly the decimal int32s of at least 0 are indexes. Any other label is as 0, and incomplete.
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
		if err != nil {
			t.Fatal(err)
		}
		if (g.Incomplete() == "") != valid {
			t.Fatalf("index %q: incomplete: %q", index, g.Incomplete())
		}
		if !valid {
			value = new(big.Int)
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

// G13: what Incomplete says follows from what is stored, by the rules word by word, also where no scheduler writes such
// a status. A byte of objects is an object, of status a group with one object; more bytes repeat the numbers.
func FuzzIncomplete(f *testing.F) {
	f.Add([]byte{0x0b, 0x45}, []byte{0x0b, 0x45}, 4, true)
	f.Add([]byte{0x03}, []byte{}, 2, false)
	f.Add([]byte{}, []byte{}, 0, false)
	f.Add([]byte{0x01, 0x81, 0x62}, []byte{0x01, 0x62}, 3, true)
	f.Fuzz(func(t *testing.T, objects, groups []byte, selected int, conditions bool) {
		// Four bits of clusters, two of the index, one of the name, one of a flag.
		object := func(number int, b byte) storedObject {
			o := storedObject{number: number, index: int(b >> 4 & 3)}
			for i, c := range "abcd" {
				if b>>i&1 == 1 {
					o.clusters += string(c)
				}
			}
			if b>>6&1 == 1 {
				o.group = "x"
			}
			return o
		}
		h := hub{map[int]storedObject{}, worldStatus{conditions: conditions, selected: int(int32(selected)), groups: map[string]worldStatusGroup{}}}
		for i, b := range objects {
			o := object(i%5, b)
			o.deleted = b>>7 == 1 && o.index > 0
			if o.unlabelled = b>>7 == 1 && o.index == 0; o.unlabelled {
				o.group = ""
			}
			h.objects[o.number] = o
		}
		for i, b := range groups {
			o := object(i%5, b)
			if g := h.status.groups[o.groupName()]; !slices.Contains(g.objects, o.number) {
				h.status.groups[o.groupName()] = worldStatusGroup{append(g.objects, o.number), g.count + len(o.clusters)}
			}
		}
		h.check(t)
		if whole := (hub{h.objects, statusOf(h.objects)}); len(h.objects) > 0 {
			whole.check(t)
		}
	})
}

// G14: names are groups, or a fault is named.
func FuzzFromNames(f *testing.F) {
	f.Add(int32(0), "canary", "a b", "c")
	f.Add(int32(-1), "", "a", "a")
	f.Add(int32(3), "-", "", "a")
	f.Fuzz(func(t *testing.T, index int32, name, some, others string) {
		names := map[grouping.Key][]string{{Index: index, Name: name}: strings.Split(some, " "), {Index: 7, Name: "others"}: strings.Fields(others)}
		distinct, total := map[string]bool{}, 0
		for _, clusters := range names {
			for _, c := range clusters {
				distinct[c] = true
				total++
			}
		}
		valid := index >= 0 && len(validation.IsValidLabelValue(name)) == 0 && !distinct[""] && len(distinct) == total
		g, err := grouping.FromNames(names)
		if (err == nil) != valid {
			t.Fatalf("%q: error %v, want one: %v", names, err, !valid)
		}
		if err == nil && (g.Len() != len(names) || g.NumClusters() != total || g.Incomplete() != "") {
			t.Fatalf("%q are %v", names, g)
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
		g, err := grouping.Divide(placement, clusters, grouping.Options{})
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
