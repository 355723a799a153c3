// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of lines that have no object.
const (
	typeBegin    = "BEGIN"    // a recording begins, or begins again: all objects are listed next
	typeHole     = "HOLE"     // a watch was lost at that time: its kind is listed next
	typeListed   = "LISTED"   // what was listed since BEGIN or HOLE is whole
	typeBookmark = "BOOKMARK" // until then all events are in
)

// Line is a line of a recording, as JSON.
type Line struct {
	// Type is BEGIN, HOLE, LISTED, BOOKMARK, or that of a watch event: ADDED, MODIFIED or DELETED.
	Type string `json:"type"`
	// At is when the line was received.
	At time.Time `json:"at"`
	// Kind is the kind that a HOLE or a LISTED is about. A LISTED without one ends a BEGIN.
	Kind string `json:"kind,omitempty"`
	// Reason is why there is a hole.
	Reason string `json:"reason,omitempty"`
	// Object is the object of a watch event.
	Object json.RawMessage `json:"object,omitempty"`
}

// class is what an object is to a rollout.
type class uint8

const (
	isNothing class = iota // a line without an object
	isOther                // an object that has no part in a rollout
	isPlacement
	isDecision
	isOwner
	isHolder
	isRoot    // a root policy
	isBinding // what binds it to a placement
	isSet     // a set of policies
	isCluster // a ManagedCluster
)

// source is the line of an audit log.
type source struct {
	log, of int32 // index of the log, and number of the line
}

// event is a line that was read.
type event struct {
	position
	source
	by     string // its writer, if the recording says so
	typed  string // its type
	about  string // the kind of a HOLE or LISTED
	reason string
	at     int64 // when it was received
	true   int64 // when it was written at the latest: no later than anything that was written after it was received
	rv     int64
	class  class
	kind   string
	key    string // namespace/name
	state  any    // of the class: *placementState, *decisionState, *ownerState, *holderState, *rootState, *bindingState, *setState, *clusterState
	gone   bool
}

func (e *event) id() string { return e.kind + " " + e.key }

// InputError is what is wrong with a line.
type InputError struct {
	Input string // the name of the file, where there are several
	Line  int
	Err   error
}

// Error names the file, where there are several, and the line.
func (e *InputError) Error() string {
	if e.Input != "" {
		return fmt.Sprintf("%s: line %d: %v", e.Input, e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap gives what is wrong, without the line.
func (e *InputError) Unwrap() error { return e.Err }

// object is what is read of any object.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		ResourceVersion   string            `json:"resourceVersion"`
		Generation        int64             `json:"generation"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
		CreationTimestamp metav1.Time       `json:"creationTimestamp"`
		Finalizers        []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`

	whole json.RawMessage // of a kind that has neither
}

// annotations are those that may say what a person decided.
func (o *object) annotations() map[string]string {
	delete(o.Metadata.Annotations, "kubectl.kubernetes.io/last-applied-configuration") // the whole object
	return o.Metadata.Annotations
}

// The kinds that have a part, each with its reader.
var readers = map[string]func(*reader, *object, *event) error{
	"Placement":              (*reader).placement,
	"PlacementDecision":      (*reader).decision,
	"ManifestWorkReplicaSet": (*reader).replicaSet,
	"ManifestWork":           (*reader).work,
	"ClusterManagementAddOn": (*reader).addOn,
	"ManagedClusterAddOn":    (*reader).onCluster,
	"Policy":                 (*reader).policy,
	"PlacementBinding":       (*reader).binding,
	"PolicySet":              (*reader).policySet,
	kindCluster:              (*reader).cluster,
}

// reader reads lines. Several may share its memory.
type reader struct {
	hashes  *sync.Map // by the bytes of manifests: their version
	strings *sync.Map
	specs   *sync.Map // by kind and bytes of an owner's spec: *ownerSpec
}

func newReader() *reader { return &reader{&sync.Map{}, &sync.Map{}, &sync.Map{}} }

// same gives one string for all that are equal, so that a million events share theirs.
func (r *reader) same(s string) string {
	if have, ok := r.strings.Load(s); ok {
		return have.(string)
	}
	s = strings.Clone(s)
	have, _ := r.strings.LoadOrStore(s, s)
	return have.(string)
}

var (
	earliestTime = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	latestTime   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// read reads a line. Its error says what was found and what was expected.
func (r *reader) read(where position, text []byte) ([]event, error) {
	e, err := r.readLine(bytes.TrimRight(text, "\r\n"))
	e.position = where
	return []event{e}, err
}

func (r *reader) readLine(text []byte) (e event, err error) {
	var l Line
	if err := strict(text, &l); err != nil {
		return e, fmt.Errorf("expected a JSON object with type, at and object: %w", err)
	}
	if l.At.Before(earliestTime) || l.At.After(latestTime) {
		return e, fmt.Errorf("at is %s, expected the time when the event was received", l.At.Format(time.RFC3339))
	}
	e.typed, e.at, e.about, e.reason = r.same(l.Type), l.At.UnixNano(), r.same(l.Kind), r.same(l.Reason)
	switch l.Type {
	case typeBegin, typeBookmark, typeHole, typeListed:
		if len(l.Object) > 0 {
			return e, fmt.Errorf("a line of type %s has an object, expected none", l.Type)
		}
		if l.Kind != "" && readers[l.Kind] == nil {
			return e, fmt.Errorf("the kind is %q, which is not among those that are judged", l.Kind)
		}
		if l.Kind == "" && l.Type == typeHole {
			return e, errors.New("a line of type HOLE has no kind, expected the one of the lost watch")
		}
		return e, nil
	case "ADDED", "MODIFIED":
	case "DELETED":
		e.gone = true
	case "ERROR":
		return e, errors.New("the type is ERROR, which a watch says when it is lost: expected HOLE")
	default:
		return e, fmt.Errorf("the type is %q, expected BEGIN, LISTED, HOLE, BOOKMARK, ADDED, MODIFIED or DELETED", l.Type)
	}
	var o object
	if len(l.Object) == 0 {
		return e, fmt.Errorf("a line of type %s has no object", l.Type)
	}
	if err := json.Unmarshal(l.Object, &o); err != nil {
		return e, fmt.Errorf("the object: %w", err)
	}
	o.whole = l.Object
	err = r.object(&o, &e)
	return e, err
}

// object reads what an event says of an object.
func (r *reader) object(o *object, e *event) (err error) {
	if o.Kind == "" || o.Metadata.Name == "" {
		return errors.New("the object has no kind or no metadata.name")
	}
	if e.rv, err = strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64); err != nil || e.rv <= 0 {
		return fmt.Errorf("%s %s: metadata.resourceVersion is %q, expected a positive number", o.Kind, o.Metadata.Name, o.Metadata.ResourceVersion)
	}
	e.kind, e.key = r.same(o.Kind), r.same(keyOf(o.Metadata.Namespace, o.Metadata.Name))
	read := readers[o.Kind]
	if read == nil {
		e.class = isOther
		return nil
	}
	if err = read(r, o, e); err != nil {
		err = fmt.Errorf("%s: %w", e.id(), err)
	}
	return err
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return errors.New("the line ends in the middle")
		}
		return err
	}
	if d.More() {
		return errors.New("more follows behind it")
	}
	return nil
}

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func decode(field string, text json.RawMessage, into any) error {
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// spec reads what an owner wants once for all states that have the same.
func (r *reader) spec(owner string, text []byte, read func(*ownerSpec) error) (*ownerSpec, error) {
	key := owner + " " + string(text)
	if have, ok := r.specs.Load(key); ok {
		return have.(*ownerSpec), nil
	}
	s := &ownerSpec{}
	if err := read(s); err != nil {
		return nil, err
	}
	for i := range s.refs {
		p := &s.refs[i]
		var fault string
		if p.strategy, fault = readStrategy(p.raw); fault != "" {
			s.fault = fault
		}
	}
	have, _ := r.specs.LoadOrStore(key, s)
	return have.(*ownerSpec), nil
}

func nanos(t metav1.Time) int64 {
	if t.Time.Before(earliestTime) || t.Time.After(latestTime) {
		return 0
	}
	return t.UnixNano()
}

// byTime sorts events by when they were written.
func byTime(a, b event) int { return cmp.Compare(a.rv, b.rv) }
