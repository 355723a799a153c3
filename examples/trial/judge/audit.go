// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAuditLine is how long a line of an audit log may be, in bytes: the answer to a list is one line.
const maxAuditLine = 256 << 20

// kindsOf are the kinds of the objects that have a part, by group and resource.
var kindsOf = map[string]string{
	"cluster.open-cluster-management.io/placements":            "Placement",
	"cluster.open-cluster-management.io/placementdecisions":    "PlacementDecision",
	"work.open-cluster-management.io/manifestworkreplicasets":  "ManifestWorkReplicaSet",
	"work.open-cluster-management.io/manifestworks":            "ManifestWork",
	"addon.open-cluster-management.io/clustermanagementaddons": "ClusterManagementAddOn",
	"addon.open-cluster-management.io/managedclusteraddons":    "ManagedClusterAddOn",
	"policy.open-cluster-management.io/policies":               "Policy",
	"policy.open-cluster-management.io/placementbindings":      "PlacementBinding",
	"policy.open-cluster-management.io/policysets":             "PolicySet",
	"cluster.open-cluster-management.io/managedclusters":       kindCluster,
}

// auditEvent is what is read of a line of an audit log.
type auditEvent struct {
	Kind             string `json:"kind"`
	APIVersion       string `json:"apiVersion"`
	Level            string `json:"level"`
	Stage            string `json:"stage"`
	RequestURI       string `json:"requestURI"`
	Verb             string `json:"verb"`
	User             user   `json:"user"`
	ImpersonatedUser *user  `json:"impersonatedUser"`
	UserAgent        string `json:"userAgent"`
	ObjectRef        struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject            json.RawMessage `json:"requestObject"`
	ResponseObject           json.RawMessage `json:"responseObject"`
	RequestReceivedTimestamp time.Time       `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time       `json:"stageTimestamp"`
}

type user struct {
	Username string `json:"username"`
}

// doing is what a line of an audit log says of an object. Those of one resourceVersion are in this order.
type doing uint8

const (
	made    doing = iota // it was created, and the answer has it
	wrote                // it was updated, patched or marked for deletion
	saw                  // it was read
	lost                 // it may have been written: that is uncertain. Without a name it is any of the kind.
	item                 // it is one of all of its kind
	listed               // these are all of the kind, or a part of them
	removed              // it was deleted, and the answer does not have it
	torn                 // the log ends in the middle of a line
	other                // nothing that is judged
)

// logged is a line of an audit log, or a part of one.
type logged struct {
	event
	doing      doing
	received   int64 // when the request came
	created    int64 // when the object was, in whole seconds
	generation int64
	before     int64 // the resourceVersion that the writer expected, 0 for any; of an item, that of the list
	total      int   // of the first part of a list: how many there are in all; otherwise -1
}

// isAudit says whether a line of an audit log comes next.
func isAudit(in *bufio.Reader) bool {
	start, _ := in.Peek(4096)
	start, _, _ = bytes.Cut(start, []byte("\n"))
	return bytes.Contains(start, []byte(`"audit.k8s.io/`))
}

// audit reads a line of an audit log.
func (r *reader) audit(where position, text []byte) ([]logged, error) {
	var a auditEvent
	if err := json.Unmarshal(text, &a); err != nil {
		if ends := new(json.SyntaxError); errors.As(err, &ends) && ends.Offset >= int64(len(text)) && !bytes.HasSuffix(text, []byte("\n")) {
			return []logged{{doing: torn, event: event{source: source{of: int32(where.line)}}}}, nil
		}
		return nil, fmt.Errorf("expected an event of an audit log: %w", err)
	}
	if group, _, _ := strings.Cut(a.APIVersion, "/"); a.Kind != "Event" || group != "audit.k8s.io" {
		return nil, fmt.Errorf("this is a %q of %q, expected an Event of audit.k8s.io", a.Kind, a.APIVersion)
	}
	if a.StageTimestamp.Before(earliestTime) || a.StageTimestamp.After(latestTime) {
		return nil, fmt.Errorf("stageTimestamp is %s, expected the time of the stage", a.StageTimestamp.Format(time.RFC3339))
	}
	by := a.User.Username
	if a.ImpersonatedUser != nil {
		by = a.ImpersonatedUser.Username
	}
	if agent, _, _ := strings.Cut(a.UserAgent, " "); agent != "" {
		by = strings.TrimSpace(by + " (" + agent + ")")
	}
	l := logged{event: event{source: source{of: int32(where.line)}, typed: "MODIFIED", at: a.StageTimestamp.UnixNano(), by: r.same(by)}, received: a.StageTimestamp.UnixNano()}
	if at := a.RequestReceivedTimestamp; at.After(earliestTime) && at.Before(a.StageTimestamp) {
		l.received = at.UnixNano()
	}
	resource := a.ObjectRef.APIGroup + "/" + a.ObjectRef.Resource
	kind := kindsOf[resource]
	no := func(what string) ([]logged, error) { // l is of no use
		l.doing, l.kind = other, r.same(what)
		return []logged{l}, nil
	}
	query := a.RequestURI[strings.IndexByte(a.RequestURI, '?')+1:]
	switch {
	case kind == "":
		return no(strings.TrimPrefix(resource, "/"))
	case a.Stage != "ResponseComplete" && a.Stage != "Panic":
		return no("stage " + a.Stage)
	case strings.Contains(query, "dryRun="), a.ResponseStatus.Code >= 400 && a.ResponseStatus.Code < 500:
		return no("refused or tried")
	}
	l.kind, l.key = kind, r.same(keyOf(a.ObjectRef.Namespace, a.ObjectRef.Name))
	if a.ObjectRef.Name == "" {
		l.key = ""
	}
	isLost := a.Stage == "Panic" || a.ResponseStatus.Code < 200 || a.ResponseStatus.Code >= 300
	var all []logged
	var err error
	switch a.Verb {
	case "create", "update", "patch", "apply", "delete":
		all, err = r.written(&a, l, isLost)
	case "deletecollection":
		all, err = r.collection(&a, l, isLost)
	case "get", "list":
		if isLost || a.ObjectRef.Subresource != "" && a.ObjectRef.Subresource != "status" {
			return no(a.Verb)
		}
		all, err = r.answered(&a, l, query)
	default:
		return no(a.Verb)
	}
	if err == nil && len(all) == 0 {
		return no(a.Verb)
	}
	return all, err
}

// whole reads an object of a kind. It is nil for a text that is none, or one without its fields.
func whole(text json.RawMessage, kind string) *object {
	var o object
	if len(text) == 0 || json.Unmarshal(text, &o) != nil || o.Metadata.Name == "" || o.Kind != kind && o.Kind != "" {
		return nil
	}
	o.Kind, o.whole = kind, text
	return &o
}

// state gives a line what it says of an object.
func (r *reader) state(l logged, o *object) (logged, error) {
	err := r.object(o, &l.event)
	l.generation = o.Metadata.Generation
	l.created = nanos(o.Metadata.CreationTimestamp)
	return l, err
}

// written reads a write of one object.
func (r *reader) written(a *auditEvent, l logged, isLost bool) ([]logged, error) {
	l.doing = lost
	sub := a.ObjectRef.Subresource
	answer := whole(a.ResponseObject, l.kind)
	var what struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	switch {
	case isLost || sub != "" && sub != "status":
	case answer != nil:
		var err error
		if l, err = r.state(l, answer); err != nil {
			return nil, err
		}
		l.doing = wrote
		if a.ResponseStatus.Code == 201 {
			l.doing, l.typed = made, "ADDED"
		} else if a.Verb == "update" && json.Unmarshal(a.RequestObject, &what) == nil {
			l.before, _ = strconv.ParseInt(what.Metadata.ResourceVersion, 10, 64)
		}
		// A client that takes the last finalizer from an object in deletion gets it once more.
		if l.gone = answer.Metadata.DeletionTimestamp != nil && len(answer.Metadata.Finalizers) == 0; l.gone {
			l.typed = "DELETED"
		}
	case a.Verb == "delete" && l.key != "" && json.Unmarshal(a.ResponseObject, &what) == nil && what.Kind == "Status":
		l.doing, l.typed, l.gone = removed, "DELETED", true
	}
	return []logged{l}, nil
}

// collection reads a deletion of many. Those with finalizers are marked only, and the answer does not say so.
func (r *reader) collection(a *auditEvent, l logged, isLost bool) (all []logged, _ error) {
	items, _, ok := itemsOf(a.ResponseObject)
	if isLost || !ok {
		l.doing, l.key = lost, ""
		return []logged{l}, nil
	}
	for _, text := range items {
		one, o := l, whole(text, l.kind)
		if one.doing = lost; o != nil {
			one.key = r.same(keyOf(o.Metadata.Namespace, o.Metadata.Name))
			if len(o.Metadata.Finalizers) == 0 {
				one.doing, one.typed, one.gone = removed, "DELETED", true
			}
		}
		all = append(all, one)
	}
	return all, nil
}

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
	Remaining       *int64 `json:"remainingItemCount"`
}

func itemsOf(text json.RawMessage) ([]json.RawMessage, listMeta, bool) {
	var list struct {
		Kind     string            `json:"kind"`
		Metadata listMeta          `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	ok := len(text) > 0 && json.Unmarshal(text, &list) == nil && strings.HasSuffix(list.Kind, "List")
	return list.Items, list.Metadata, ok
}

// answered reads the answer to a get or a list. What has no fields, as in a table, says nothing.
func (r *reader) answered(a *auditEvent, l logged, query string) (all []logged, _ error) {
	if a.Verb == "get" {
		if o := whole(a.ResponseObject, l.kind); o != nil {
			l.doing = saw
			l, err := r.state(l, o)
			return []logged{l}, err
		}
		return nil, nil
	}
	items, meta, ok := itemsOf(a.ResponseObject)
	values, err := url.ParseQuery(query)
	if !ok || err != nil {
		return nil, nil
	}
	at, err := strconv.ParseInt(meta.ResourceVersion, 10, 64)
	partly := err != nil || a.ObjectRef.Namespace != "" || values.Get("labelSelector") != "" || values.Get("fieldSelector") != ""
	for _, text := range items {
		o := whole(text, l.kind)
		if o == nil {
			return nil, nil
		}
		one := l
		if one.doing = item; partly {
			one.doing = saw
		}
		if one, err = r.state(one, o); err != nil {
			return nil, err
		}
		one.before = at // where it stands among the writes
		all = append(all, one)
	}
	if partly {
		return all, nil
	}
	l.doing, l.key, l.rv, l.total = listed, "", at, len(items)
	if values.Get("continue") != "" {
		l.total = -1
	} else if meta.Continue != "" && meta.Remaining != nil {
		l.total += int(*meta.Remaining)
	} else if meta.Continue != "" {
		l.total = -1
	}
	return append(all, l), nil
}
