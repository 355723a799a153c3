package judge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
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
)

// source is the line of an audit log.
type source struct {
	log, of int32 // index of the log, and number of the line
}

// event is a line that was read.
type event struct {
	position
	source
	by     string // who wrote it, if the recording says so
	typed  string // its type
	about  string // the kind of a HOLE or LISTED
	reason string
	at     int64 // when it was received
	true   int64 // when it was written at the latest: no later than anything that was written after it was received
	rv     int64
	class  class
	kind   string
	key    string // namespace/name
	state  any    // of the class: *placementState, *decisionState, *ownerState, *holderState, *rootState, *bindingState, *setState
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
			return e, errors.New("a line of type HOLE has no kind, expected the one whose watch was lost")
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

func (r *reader) placement(o *object, e *event) error {
	var spec struct {
		DecisionStrategy struct {
			GroupStrategy struct {
				ClustersPerDecisionGroup intstr.IntOrString `json:"clustersPerDecisionGroup"`
			} `json:"groupStrategy"`
		} `json:"decisionStrategy"`
	}
	var status struct {
		NumberOfSelectedClusters int32                                `json:"numberOfSelectedClusters"`
		DecisionGroups           []clusterv1beta1.DecisionGroupStatus `json:"decisionGroups"`
	}
	if err := errors.Join(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	p := &placementState{selected: int(status.NumberOfSelectedClusters), foreign: o.Metadata.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true"}
	if n := spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup; n.Type == intstr.Int {
		p.size = n.IntValue()
	}
	for _, g := range status.DecisionGroups {
		s := groupStatus{groupKey: groupKey{int(g.DecisionGroupIndex), r.same(g.DecisionGroupName)}, count: int(g.ClustersCount)}
		for _, name := range g.Decisions {
			s.decisions = append(s.decisions, r.same(name))
		}
		p.groups = append(p.groups, s)
	}
	e.class, e.state = isPlacement, p
	return nil
}

func (r *reader) decision(o *object, e *event) error {
	var status clusterv1beta1.PlacementDecisionStatus
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	d := &decisionState{
		placement: r.same(keyOf(o.Metadata.Namespace, o.Metadata.Labels[clusterv1beta1.PlacementLabel])),
		groupKey:  groupKey{name: r.same(o.Metadata.Labels[clusterv1beta1.DecisionGroupNameLabel])},
		deleting:  o.Metadata.DeletionTimestamp != nil,
	}
	if index := o.Metadata.Labels[clusterv1beta1.DecisionGroupIndexLabel]; index != "" {
		var err error
		if d.index, err = strconv.Atoi(index); err != nil {
			return fmt.Errorf("the label %s is %q, expected a number", clusterv1beta1.DecisionGroupIndexLabel, index)
		}
	}
	for _, c := range status.Decisions {
		d.clusters = append(d.clusters, r.same(c.ClusterName))
	}
	e.class, e.state = isDecision, d
	return nil
}

func (r *reader) replicaSet(o *object, e *event) error {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	spec, err := r.spec(e.kind+" "+o.Metadata.Namespace, o.Spec, func(s *ownerSpec) error {
		var spec struct {
			ManifestWorkTemplate struct {
				Workload struct {
					Manifests json.RawMessage `json:"manifests"`
				} `json:"workload"`
			} `json:"manifestWorkTemplate"`
			PlacementRefs []workv1alpha1.LocalPlacementReference `json:"placementRefs"`
		}
		if err := decode("spec", o.Spec, &spec); err != nil {
			return err
		}
		version, err := r.hash(spec.ManifestWorkTemplate.Workload.Manifests)
		for _, p := range spec.PlacementRefs {
			s.refs = append(s.refs, ref{placement: keyOf(o.Metadata.Namespace, p.Name), version: version, raw: p.RolloutStrategy})
		}
		return err
	})
	if err != nil {
		return err
	}
	e.class, e.state = isOwner, &ownerState{spec: spec, deleting: o.Metadata.DeletionTimestamp != nil, silent: len(status.Conditions) == 0, annotations: o.annotations()}
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

func (r *reader) work(o *object, e *event) error {
	namespace, name, labelled := strings.Cut(o.Metadata.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey], ".")
	if !labelled {
		e.class = isOther // a work of somebody else
		return nil
	}
	var spec struct {
		Workload struct {
			Manifests json.RawMessage `json:"manifests"`
		} `json:"workload"`
	}
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := errors.Join(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	version, err := r.hash(spec.Workload.Manifests)
	if err != nil {
		return err
	}
	h := &holderState{
		owner: r.same("ManifestWorkReplicaSet " + keyOf(namespace, name)), cluster: r.same(o.Metadata.Namespace), version: version,
		deleting: o.Metadata.DeletionTimestamp != nil,
	}
	h.answer, h.since = answerOf(status.Conditions, o.Metadata.Generation, h.deleting)
	e.class, e.state = isHolder, h
	return nil
}

// answerOf reads what the conditions of a work say of its present generation.
func answerOf(conditions []metav1.Condition, generation int64, deleting bool) (answer, int64) {
	current := func(conditionType string) (c *metav1.Condition, is bool) {
		c = meta.FindStatusCondition(conditions, conditionType)
		return c, c != nil && (c.ObservedGeneration == generation || deleting && c.ObservedGeneration == generation-1) // to delete it adds 1
	}
	applied, has := current(workv1.WorkApplied)
	progressing, told := current(workv1.WorkProgressing)
	degraded, toldDegraded := current(workv1.WorkDegraded)
	switch {
	case !has || applied.Status != metav1.ConditionTrue || !told || degraded != nil && !toldDegraded:
		return silent, 0
	case progressing.Status == metav1.ConditionFalse:
		return does, nanos(progressing.LastTransitionTime)
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		return fails, nanos(degraded.LastTransitionTime)
	default:
		return underWay, nanos(progressing.LastTransitionTime)
	}
}

func nanos(t metav1.Time) int64 {
	if t.Time.Before(earliestTime) || t.Time.After(latestTime) {
		return 0
	}
	return t.UnixNano()
}

// hash is the version of a work: that of its manifests, however their fields are ordered.
func (r *reader) hash(manifests json.RawMessage) (string, error) {
	raw := sha256.Sum256(manifests)
	if have, ok := r.hashes.Load(raw); ok {
		return have.(string), nil
	}
	var any any
	if err := decode("workload.manifests", manifests, &any); err != nil {
		return "", err
	}
	text, err := json.Marshal(any)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	version := hex.EncodeToString(sum[:4])
	r.hashes.Store(raw, version)
	return version, nil
}

// config is a configuration of an add-on, in spec or status.
type config struct {
	Group     string                       `json:"group"`
	Resource  string                       `json:"resource"`
	Namespace string                       `json:"namespace"`
	Name      string                       `json:"name"`
	Desired   *addonv1beta1.ConfigSpecHash `json:"desiredConfig"`
	Applied   *addonv1beta1.ConfigSpecHash `json:"lastAppliedConfig"`
}

// text is a configuration as a part of a version.
func (c config) text() string {
	return fmt.Sprintf("%s.%s %s#%s", c.Resource, c.Group, keyOf(c.Desired.Namespace, c.Desired.Name), c.Desired.SpecHash)
}

// versionOfConfigs is the version of an add-on: its configurations, in lines.
func versionOfConfigs(configs []config) string {
	var parts []string
	for _, c := range configs {
		if c.Desired != nil {
			parts = append(parts, c.text())
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n")
}

// carries says whether an object with a version has all of another. An add-on may have more configurations than its owner wants.
func carries(has, wanted string) bool {
	if has == wanted || !strings.Contains(wanted, "#") {
		return has == wanted
	}
	parts := strings.Split(has, "\n")
	for part := range strings.SplitSeq(wanted, "\n") {
		if !slices.Contains(parts, part) {
			return false
		}
	}
	return true
}

func (r *reader) addOn(o *object, e *event) error {
	var spec struct {
		InstallStrategy struct {
			Type       string `json:"type"`
			Placements []struct {
				Namespace       string                          `json:"namespace"`
				Name            string                          `json:"name"`
				RolloutStrategy clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy"`
				Configs         []config                        `json:"configs"`
			} `json:"placements"`
		} `json:"installStrategy"`
	}
	var status struct {
		InstallProgressions []struct {
			Namespace        string   `json:"namespace"`
			Name             string   `json:"name"`
			ConfigReferences []config `json:"configReferences"`
		} `json:"installProgressions"`
	}
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	hashes := map[string]string{} // by placement and configuration
	for _, p := range status.InstallProgressions {
		for _, c := range p.ConfigReferences {
			if c.Desired != nil {
				d := c.Desired
				hashes[strings.Join([]string{p.Namespace, p.Name, c.Group, c.Resource, d.Namespace, d.Name}, "/")] = d.SpecHash
			}
		}
	}
	known, _ := json.Marshal(hashes)
	s, err := r.spec(e.kind+string(known), o.Spec, func(s *ownerSpec) error {
		if err := decode("spec", o.Spec, &spec); err != nil {
			return err
		}
		if spec.InstallStrategy.Type != addonv1beta1.AddonInstallStrategyPlacements {
			return nil
		}
		for _, p := range spec.InstallStrategy.Placements {
			for i := range p.Configs {
				c := &p.Configs[i]
				hash := hashes[strings.Join([]string{p.Namespace, p.Name, c.Group, c.Resource, c.Namespace, c.Name}, "/")]
				c.Desired = &addonv1beta1.ConfigSpecHash{ConfigReferent: addonv1beta1.ConfigReferent{Namespace: c.Namespace, Name: c.Name}, SpecHash: hash}
			}
			s.refs = append(s.refs, ref{placement: r.same(keyOf(p.Namespace, p.Name)), version: versionOfConfigs(p.Configs), raw: p.RolloutStrategy})
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.class, e.state = isOwner, &ownerState{spec: s, deleting: o.Metadata.DeletionTimestamp != nil, silent: len(status.InstallProgressions) == 0, annotations: o.annotations()}
	return nil
}

func (r *reader) onCluster(o *object, e *event) error {
	var status struct {
		Conditions       []metav1.Condition `json:"conditions"`
		ConfigReferences []config           `json:"configReferences"`
	}
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	h := &holderState{
		owner: r.same("ClusterManagementAddOn " + o.Metadata.Name), cluster: r.same(o.Metadata.Namespace),
		version: r.same(versionOfConfigs(status.ConfigReferences)), deleting: o.Metadata.DeletionTimestamp != nil,
	}
	done := h.version != ""
	for _, c := range status.ConfigReferences {
		done = done && (c.Desired == nil || c.Applied != nil && *c.Applied == *c.Desired)
	}
	progressing := meta.FindStatusCondition(status.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing)
	switch {
	case done:
		h.answer = does
	case progressing != nil && progressing.Reason == addonv1beta1.ProgressingReasonFailed:
		h.answer = fails
	case progressing != nil && progressing.Status == metav1.ConditionTrue:
		h.answer = underWay
	}
	if progressing != nil && h.answer != silent {
		h.since = nanos(progressing.LastTransitionTime)
	}
	e.class, e.state = isHolder, h
	return nil
}

// byTime sorts events by when they were written.
func byTime(a, b event) int { return cmp.Compare(a.rv, b.rv) }
