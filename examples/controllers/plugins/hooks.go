// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

const (
	// AnnotationPlugin names the plugin of a set.
	AnnotationPlugin = "cohort.open-cluster-management.io/plugin"
	// annotationPosition has the position of a cluster on its work, as JSON.
	annotationPosition = "cohort.open-cluster-management.io/position"
	prefix             = "cohort.open-cluster-management.io/"

	// longest bounds a call, as in the enhancement. It also bounds all calls of one kind in a reconcile together.
	longest = 30 * time.Second
	// atOnce is how many calls are made in parallel.
	atOnce = 16
	// every is the interval at which a cluster that is being validated is asked about.
	every = 10 * time.Second
)

// Hooks are the registered plugins by name. A nil Hooks has none, and does nothing for sets that name none.
type Hooks struct {
	Registered map[string]Plugin
	// Longest bounds each call; 0 is 30 seconds.
	Longest time.Duration

	mu     sync.Mutex
	silent map[string]time.Time // the reconcile in which a plugin did not answer in time, so that it is called only once in each
}

// isSilent says whether a plugin did not answer in time earlier in a reconcile.
func (h *Hooks) isSilent(rollout *Rollout) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, was := h.silent[rollout.Set.GetAnnotations()[AnnotationPlugin]]
	return was && at.Equal(rollout.Now)
}

// refusal is an error of a plugin, or of its name, for an event.
type refusal struct{ error }

func (refused refusal) Is(target error) bool { return target == kit.ErrRefused }

func (refused refusal) Unwrap() error { return refused.error }

// refused marks an error for an event.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

// heard records the outcome of a call.
func (h *Hooks) heard(rollout *Rollout, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.silent == nil {
			h.silent = make(map[string]time.Time)
		}
		h.silent[rollout.Set.GetAnnotations()[AnnotationPlugin]] = rollout.Now
	}
	return err
}

// Rollout is the rollout of one placement of a set, in one reconcile.
type Rollout struct {
	Set       metav1.Object
	Placement string
	Groups    *grouping.Groups
	Works     []*workv1.ManifestWork // of the set
	Version   string                 // the wanted version
	Now       time.Time
}

// of is the plugin that a set names; nil if it names none.
func (h *Hooks) of(set metav1.Object) (Plugin, error) {
	name := set.GetAnnotations()[AnnotationPlugin]
	if name == "" {
		return nil, nil
	}
	var registered map[string]Plugin
	if h != nil {
		registered = h.Registered
	}
	plugin := registered[name]
	if plugin == nil {
		return nil, fmt.Errorf("%s plugin is not registered; there are %v", name, slices.Sorted(maps.Keys(registered)))
	}
	return plugin, nil
}

// within bounds a call.
func (h *Hooks) within(ctx context.Context) (context.Context, context.CancelFunc) {
	bound := longest
	if h != nil && h.Longest > 0 {
		bound = h.Longest
	}
	return context.WithTimeout(ctx, bound)
}

// request has what all calls about a rollout share.
func (r *Rollout) request() *Request {
	return &Request{
		Name: r.Set.GetName(), Namespace: r.Set.GetNamespace(), Placement: r.Placement, Revision: r.Version, ClusterCount: r.Groups.NumClusters(),
	}
}

// NeedsAnswers says whether the first answer of each cluster must be recorded: a soak and the deadline of a validation run
// from it. An answer that is not recorded would be dated to each reconcile, and the deadline would never pass.
func (r *Rollout) NeedsAnswers(result *rollout.Result) bool {
	return result.Schedule.MinSuccessTime > 0 || r.Set.GetAnnotations()[AnnotationPlugin] != ""
}

// Judge returns the reports with the verdicts of the plugin on clusters that succeeded. It calls the plugin for each
// selected cluster that is being validated, and stores a yes or a no in its work before it counts. If a call fails, the
// cluster stays Validating, with the error as its message. Judge returns an error if it cannot store or read a verdict:
// then plan later.
//
// Answered are the works of clusters whose first answer is not recorded yet. If a verdict is stored, the answer is recorded
// in the same write, since a second one would conflict. The works that remain are returned.
func (h *Hooks) Judge(ctx context.Context, r Rollout, reports []status.Report, answered []*workv1.ManifestWork, write func(*workv1.ManifestWork) error) ([]status.Report, []*workv1.ManifestWork, error) {
	plugin, missing := h.of(r.Set)
	if plugin == nil && missing == nil {
		return reports, answered, nil
	}
	save := func(work *workv1.ManifestWork) error {
		if i := slices.IndexFunc(answered, func(a *workv1.ManifestWork) bool { return a.Namespace == work.Namespace }); i >= 0 {
			answered = slices.Delete(slices.Clone(answered), i, i+1)
			stamp := status.StampOf(work)
			stamp.NoteOn(work, r.Version, stamp.Attempt, r.Now)
		}
		return write(work)
	}
	var verdicts []status.Verdict
	var unread error
	works := make(map[string]*workv1.ManifestWork, len(r.Works))
	for _, work := range r.Works {
		works[work.Namespace] = work
		verdict, err := status.VerdictOf(work, work.Namespace, r.Now)
		if unread = errors.Join(unread, err); err == nil && verdict.Cluster != "" {
			verdicts = append(verdicts, verdict)
			if noted := work.DeepCopy(); verdict.NoteOn(noted) { // an operator's verdict, which has no time
				unread = errors.Join(unread, save(noted))
			}
		}
	}
	if unread != nil {
		return nil, answered, unread
	}
	judged := status.Judge(reports, r.Version, verdicts)
	answers := h.validate(ctx, &r, plugin, missing, judged)
	for _, i := range slices.Sorted(maps.Keys(answers)) {
		a := answers[i]
		if a.Result != status.ValidationSucceeded && a.Result != status.ValidationFailed {
			judged[i].Message = a.Message
			continue
		}
		noted := works[judged[i].Cluster].DeepCopy()
		if a.NoteOn(noted) {
			if err := save(noted); err != nil {
				return nil, answered, err
			}
		}
		verdicts = append(verdicts, a)
		judged[i] = status.Judge(reports[i:i+1], r.Version, verdicts)[0]
	}
	return judged, answered, nil
}

// validate calls the plugin for the clusters that are being validated. The answers are keyed by the index of the report.
func (h *Hooks) validate(ctx context.Context, rollout *Rollout, plugin Plugin, missing error, judged []status.Report) map[int]status.Verdict {
	ctx, cancel := h.within(ctx)
	defer cancel()
	answers := make(map[int]status.Verdict)
	var mu sync.Mutex
	var all sync.WaitGroup
	slots, positions := make(chan struct{}, atOnce), rollout.positions()
	for i := range judged {
		report := &judged[i]
		if _, selected := rollout.Groups.Position(report.Cluster); report.Status != status.Validating || !selected {
			continue
		}
		request := rollout.request()
		request.Cluster, request.Attempt = report.Cluster, report.Attempt
		if position, has := positions[report.Cluster]; has {
			request.Position = &position
		}
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			verdict := ask(ctx, plugin, missing, request)
			verdict.Time = rollout.Now
			mu.Lock()
			defer mu.Unlock()
			answers[i] = verdict
		}()
	}
	all.Wait()
	return answers
}

// ask calls the plugin for one cluster. An invalid answer is an error, which the verdict repeats.
func ask(ctx context.Context, plugin Plugin, missing error, request *Request) (verdict status.Verdict) {
	verdict = status.Verdict{Cluster: request.Cluster, Version: request.Revision, Attempt: request.Attempt, Result: status.ValidationInProgress}
	if missing != nil {
		verdict.Message = missing.Error()
		return verdict
	}
	said, err := plugin.ValidateRolloutCompletion(ctx, request)
	switch {
	case err != nil:
		verdict.Message = err.Error()
	case !said.isAbout(request):
		verdict.Message = fmt.Sprintf("ValidateRolloutCompletion: an answer about %q was given, and %q was asked about", said.Revision, request.Revision)
	case said.Result == status.ValidationSucceeded, said.Result == status.ValidationFailed, said.Result == status.ValidationInProgress:
		verdict.Result, verdict.Message = said.Result, said.Message
	default:
		verdict.Message = fmt.Sprintf("ValidateRolloutCompletion: %q must be SUCCEEDED, FAILED or INPROGRESS", said.Result)
	}
	return verdict
}

// Prepare calls the plugin to prepare a cluster that starts, and returns its work. On an error write nothing, and try
// again. The work has the cluster's position in an annotation.
func (h *Hooks) Prepare(ctx context.Context, r Rollout, result *rollout.Result, cluster rollout.Cluster, wanted *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	work, err := h.prepare(ctx, r, result, cluster, wanted)
	return work, refused(err)
}

func (h *Hooks) prepare(ctx context.Context, r Rollout, result *rollout.Result, cluster rollout.Cluster, wanted *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	plugin, err := h.of(r.Set)
	switch {
	case err != nil:
		return nil, err
	case plugin == nil:
		return wanted, nil
	case h.isSilent(&r):
		return nil, fmt.Errorf("BeginRollout: the plugin did not answer in time for another cluster")
	}
	request := r.request()
	position := result.Positions(r.positions())[cluster.Name]
	request.Cluster, request.Attempt, request.Position, request.Status = cluster.Name, cluster.Attempt, &position, r.statusOf(result)
	text, err := json.Marshal(position)
	if err != nil {
		return nil, err
	}
	wanted = wanted.DeepCopy()
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, annotationPosition, string(text))
	begin, cancel := h.within(ctx)
	defer cancel()
	if err := h.heard(&r, plugin.BeginRollout(begin, request)); err != nil {
		return nil, err
	}
	mutate, cancel := h.within(ctx)
	defer cancel()
	mutated, err := plugin.MutateManifestWork(mutate, request, wanted.DeepCopy())
	if h.heard(&r, err) != nil {
		return nil, err
	}
	if mutated.Namespace != wanted.Namespace || mutated.Name != wanted.Name {
		return nil, fmt.Errorf("MutateManifestWork: the work is %s/%s, and must be %s/%s", mutated.Namespace, mutated.Name, wanted.Namespace, wanted.Name)
	}
	wanted.Spec = mutated.Spec
	wanted.Labels, wanted.Annotations = beside(wanted.Labels, mutated.Labels), beside(wanted.Annotations, mutated.Annotations)
	return wanted, nil
}

// beside adds a plugin's labels or annotations to the controller's, which win.
func beside(ours, theirs map[string]string) map[string]string {
	all := maps.Clone(ours)
	for key, value := range theirs {
		if _, is := ours[key]; !is && !strings.HasPrefix(key, prefix) {
			if all == nil {
				all = make(map[string]string)
			}
			all[key] = value
		}
	}
	return all
}

// positions are the positions in works of the version.
func (r *Rollout) positions() map[string]rollout.Position {
	noted := make(map[string]rollout.Position)
	for _, work := range r.Works {
		if position := positionOf(work); position != nil && status.StampOf(work).Version == r.Version {
			noted[work.Namespace] = *position
		}
	}
	return noted
}

// positionOf reads the position from a work; nil if there is none.
func positionOf(work *workv1.ManifestWork) *rollout.Position {
	var position rollout.Position
	if json.Unmarshal([]byte(work.Annotations[annotationPosition]), &position) != nil || position.Index < 1 {
		return nil
	}
	return &position
}

// Progress informs the plugin of the progress.
func (h *Hooks) Progress(ctx context.Context, r Rollout, result *rollout.Result) error {
	plugin, err := h.of(r.Set)
	if plugin == nil {
		return refused(err)
	}
	request := r.request()
	request.Status = r.statusOf(result)
	ctx, cancel := h.within(ctx)
	defer cancel()
	return refused(plugin.ProgressRollout(ctx, request))
}

// Soon is like kit.Soon, but sooner if a cluster is being validated: no event tells that a validator has finished.
func Soon(recheck time.Duration, results map[string]*rollout.Result) time.Duration {
	recheck = kit.Soon(recheck, results)
	for _, r := range results {
		if r.Counts.Validating > 0 && (recheck == 0 || recheck > every) {
			recheck = every
		}
	}
	return recheck
}

// SetLoaded sets the condition PluginLoaded of a set that names a plugin, and says whether that changed anything.
func (h *Hooks) SetLoaded(ctx context.Context, set metav1.Object, conditions *[]metav1.Condition, now time.Time) bool {
	name := set.GetAnnotations()[AnnotationPlugin]
	if name == "" {
		return meta.RemoveStatusCondition(conditions, "PluginLoaded")
	}
	available := name + " plugin is available."
	before := meta.FindStatusCondition(*conditions, "PluginLoaded")
	plugin, err := h.of(set)
	if known := before != nil && before.Status == metav1.ConditionTrue && before.Message == available; err == nil && !known {
		ctx, cancel := h.within(ctx)
		defer cancel()
		err = plugin.Initialize(ctx)
	}
	c := metav1.Condition{Type: "PluginLoaded", ObservedGeneration: set.GetGeneration(), Status: metav1.ConditionTrue, Reason: "Available", Message: available}
	if err != nil {
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "Failed", "Initialize fails: "+err.Error()
	}
	if before == nil || before.Status != c.Status {
		c.LastTransitionTime = metav1.NewTime(now)
	}
	return meta.SetStatusCondition(conditions, c)
}
