// SPDX-License-Identifier: Apache-2.0

package approvals

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/rollout"
)

const (
	annotationPause     = "cohort.open-cluster-management.io/pause"
	annotationGates     = "cohort.open-cluster-management.io/gates"
	annotationOpenGates = "cohort.open-cluster-management.io/open-gates"
	annotationRetry     = "cohort.open-cluster-management.io/retry"
	annotationIgnore    = "cohort.open-cluster-management.io/ignore"
	annotationFreeze    = "cohort.open-cluster-management.io/freeze"
	annotationBlock     = "cohort.open-cluster-management.io/block"
	annotationAllowlist = "cohort.open-cluster-management.io/allowlist"
)

// earlier gives the key that an annotation had before, if any. Live owners have such keys. They are read, and [Approvals.Note]
// keeps them.
func earlier(key string) (before string, had bool) {
	switch key {
	case annotationIgnore:
		return "cohort.open-cluster-management.io/give-up", true
	case annotationFreeze:
		return "cohort.open-cluster-management.io/hold", true
	case annotationAllowlist:
		return "cohort.open-cluster-management.io/reviewed", true
	}
	return "", false
}

// storedKeys gives the keys under which an owner has, or gets, the value of an annotation. An earlier key remains in use where
// the owner has it: a controller that is rolled back reads no other.
func storedKeys(owner map[string]string, key string) []string {
	before, had := earlier(key)
	if !had {
		return []string{key}
	}
	if _, there := owner[before]; !there {
		return []string{key}
	}
	if _, there := owner[key]; !there {
		return []string{before}
	}
	return []string{key, before}
}

// annotations are the keys of all approvals.
func annotations() [8]string {
	return [8]string{
		annotationPause, annotationGates, annotationOpenGates, annotationRetry, annotationIgnore, annotationFreeze, annotationBlock, annotationAllowlist,
	}
}

// of separates what is approved from its version. No group and no number has a space, so the first occurrence counts.
const of = " of "

// parse reads approvals (R53).
func parse(from map[string]string, path *field.Path) (decided Approvals, errs field.ErrorList) {
	read := func(key string, do func(text string, path *field.Path) field.ErrorList) {
		text, there := from[key]
		if before, had := earlier(key); had {
			former, isThere := from[before]
			switch {
			case isThere && !there:
				key, text, there = before, former, true
			case isThere && former != text:
				errs = append(errs, field.Invalid(path.Key(before), shortened(former), "differs from "+key+", which replaces it: remove one of the two"))
				return
			}
		}
		if there {
			errs = append(errs, do(text, path.Key(key))...)
		}
	}
	read(annotationPause, decided.readPause)
	read(annotationGates, decided.readGates)
	read(annotationOpenGates, decided.readOpenGates)
	read(annotationRetry, decided.readRetry)
	read(annotationIgnore, decided.readIgnored)
	read(annotationFreeze, decided.readFreezes(false))
	read(annotationBlock, decided.readFreezes(true))
	read(annotationAllowlist, decided.readAllowlist)
	return decided, errs
}

func (a *Approvals) readPause(text string, path *field.Path) field.ErrorList {
	switch strings.TrimSpace(text) {
	case "true":
		a.Pause = true
	case "false":
	default:
		return field.ErrorList{field.NotSupported(path, shortened(text), []string{"true", "false"})}
	}
	return nil
}

func (a *Approvals) readGates(text string, path *field.Path) (errs field.ErrorList) {
	for i, item := range items(text) {
		group, opens, timed := strings.Cut(item, "=")
		key, detail := readGroup(group)
		gate := rollout.ClosedGate{Group: key}
		if timed && detail == "" {
			gate.Opens, detail = readTime(opens)
		}
		if detail != "" {
			errs = append(errs, field.Invalid(path.Index(i), shortened(item), detail))
		}
		a.Gates = append(a.Gates, gate)
	}
	return errs
}

func (a *Approvals) readOpenGates(text string, path *field.Path) (errs field.ErrorList) {
	const form = "the groups of gates and the version that they are open for, such as canary,2" + of + "VERSION"
	groups, version, err := versioned(text, path, form)
	if err != nil {
		return field.ErrorList{err}
	}
	all := items(groups)
	if len(all) == 0 {
		return field.ErrorList{field.Invalid(path, shortened(text), "must be "+form)}
	}
	a.OpenGates.Version = version
	for i, item := range all {
		key, detail := readGroup(item)
		if detail != "" {
			errs = append(errs, field.Invalid(path.Index(i), shortened(item), detail))
		}
		a.OpenGates.Groups = append(a.OpenGates.Groups, key)
	}
	return errs
}

func (a *Approvals) readRetry(text string, path *field.Path) field.ErrorList {
	const form = "the number of an attempt, from 1, and the version that it is for, such as 1" + of + "VERSION"
	number, version, err := versioned(text, path, form)
	if err != nil {
		return field.ErrorList{err}
	}
	attempt, fault := strconv.ParseUint(number, 10, 31)
	if fault != nil || attempt == 0 {
		return field.ErrorList{field.Invalid(path, shortened(text), "must be "+form)}
	}
	a.Retry = Retry{Attempt: int(attempt), Version: version}
	return nil
}

func (a *Approvals) readIgnored(text string, path *field.Path) (errs field.ErrorList) {
	for i, name := range items(text) {
		if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
			errs = append(errs, field.Invalid(path.Index(i), shortened(name), "must be the name of a cluster: "+faults[0]))
		}
		a.Ignored = append(a.Ignored, name)
	}
	return errs
}

// readFreezes reads freezes, separated by semicolons, since reasons may have commas. An item is a cluster, an optional end,
// and an optional reason.
func (a *Approvals) readFreezes(block bool) func(text string, path *field.Path) field.ErrorList {
	return func(text string, path *field.Path) (errs field.ErrorList) {
		i := 0
		for item := range strings.SplitSeq(text, ";") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			what, reason, _ := strings.Cut(item, " ")
			name, until, timed := strings.Cut(what, "=")
			freeze := rollout.ClusterFreeze{Cluster: name, Reason: strings.TrimSpace(reason), Blocks: block}
			if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
				errs = append(errs, field.Invalid(path.Index(i), shortened(item), "must begin with the name of a cluster, and semicolons must separate entries: "+faults[0]))
			} else if timed {
				at, detail := readTime(until)
				if freeze.Until = at; detail != "" {
					errs = append(errs, field.Invalid(path.Index(i), shortened(item), "must have a time in RFC 3339 behind =, such as cluster7=2026-01-02T22:00:00Z maintenance"))
				}
			}
			a.Freezes = append(a.Freezes, freeze)
			i++
		}
		return errs
	}
}

func (a *Approvals) readAllowlist(text string, path *field.Path) (errs field.ErrorList) {
	const form = "the clusters to allow and the version to allow, such as cluster1,cluster2" + of + "VERSION"
	names, version, err := versioned(text, path, form)
	if err != nil {
		return field.ErrorList{err}
	}
	a.Allowlist.Version = version
	for i, name := range items(names) {
		if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
			errs = append(errs, field.Invalid(path.Index(i), shortened(name), "must be the name of a cluster: "+faults[0]))
		}
		a.Allowlist.Clusters = append(a.Allowlist.Clusters, name)
	}
	if len(a.Allowlist.Clusters) == 0 {
		errs = append(errs, field.Invalid(path, shortened(text), "must be "+form))
	}
	return errs
}

// items are the items between commas, without empty ones.
func items(text string) (all []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}

// versioned splits a text into what is approved and the version. Neither may be empty.
func versioned(text string, path *field.Path, form string) (what, version string, err *field.Error) {
	what, version, found := strings.Cut(text, of)
	what, version = strings.TrimSpace(what), strings.TrimSpace(version)
	if !found || what == "" || version == "" {
		return "", "", field.Invalid(path, shortened(text), "must be "+form)
	}
	return what, version, nil
}

// readGroup reads a name or an index, with or without a placement and a slash before it. The detail says what is wrong with
// it.
func readGroup(text string) (key grouping.Key, detail string) {
	placement, name, several := strings.Cut(text, "/")
	if !several {
		placement, name = "", text
	}
	name = strings.TrimSpace(name)
	if placement = strings.TrimSpace(placement); several {
		if faults := validation.IsDNS1123Subdomain(placement); len(faults) > 0 {
			return key, "must have the name of a Placement before the slash: " + faults[0]
		}
	}
	key.Placement = placement
	if index, err := strconv.ParseUint(name, 10, 31); err == nil {
		key.Index = int32(index)
		return key, ""
	}
	if faults := validation.IsValidLabelValue(name); name == "" || len(faults) > 0 {
		return key, "must be the name or the index of a group, such as canary, 2 or placement/canary"
	}
	key.Name = name
	return key, ""
}

func readTime(text string) (at time.Time, detail string) {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if at = at.UTC(); err != nil || at.IsZero() || at.Year() < 1 || at.Year() > 9999 {
		return time.Time{}, "must have a time in RFC 3339 behind =, such as canary=2026-01-02T22:00:00Z"
	}
	return at, ""
}

// texts are the values of all annotations; empty for those that are missing.
func (a Approvals) texts() map[string]string {
	texts := map[string]string{annotationPause: "", annotationRetry: "", annotationOpenGates: "", annotationIgnore: strings.Join(a.Ignored, ",")}
	if a.Pause {
		texts[annotationPause] = "true"
	}
	var gates, open []string
	for _, gate := range a.Gates {
		text := groupText(gate.Group)
		if !gate.Opens.IsZero() {
			text += "=" + gate.Opens.UTC().Format(time.RFC3339Nano)
		}
		gates = append(gates, text)
	}
	for _, group := range a.OpenGates.Groups {
		open = append(open, groupText(group))
	}
	texts[annotationGates] = strings.Join(gates, ",")
	if len(open) > 0 || a.OpenGates.Version != "" {
		texts[annotationOpenGates] = strings.Join(open, ",") + of + a.OpenGates.Version
	}
	if a.Retry != (Retry{}) {
		texts[annotationRetry] = strconv.Itoa(a.Retry.Attempt) + of + a.Retry.Version
	}
	var freezes [2][]string
	for _, freeze := range a.Freezes {
		text := freeze.Cluster
		if !freeze.Until.IsZero() {
			text += "=" + freeze.Until.UTC().Format(time.RFC3339Nano)
		}
		if freeze.Reason != "" {
			text += " " + freeze.Reason
		}
		at := 0
		if freeze.Blocks {
			at = 1
		}
		freezes[at] = append(freezes[at], text)
	}
	texts[annotationFreeze], texts[annotationBlock] = strings.Join(freezes[0], ";"), strings.Join(freezes[1], ";")
	texts[annotationAllowlist] = ""
	if len(a.Allowlist.Clusters) > 0 || a.Allowlist.Version != "" {
		texts[annotationAllowlist] = strings.Join(a.Allowlist.Clusters, ",") + of + a.Allowlist.Version
	}
	return texts
}

// groupText is the inverse of readGroup.
func groupText(key grouping.Key) string {
	text := key.Name
	if text == "" {
		text = strconv.Itoa(int(key.Index))
	}
	if key.Placement != "" {
		text = key.Placement + "/" + text
	}
	return text
}

func quoted(value any) string { return shortened(fmt.Sprintf("%+v", value)) }

func shortened(text string) string { return clauses.Shorten(text, 64) }
