// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

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

// carries says whether an object with a version has all of another. An add-on may have more configurations than its owner wants. Where the
// owner's status does not say yet what is in a configuration, its name alone counts.
func carries(has, wanted string) bool {
	if has == wanted || !strings.Contains(wanted, "#") {
		return has == wanted
	}
	parts := strings.Split(has, "\n")
	for part := range strings.SplitSeq(wanted, "\n") {
		if !slices.Contains(parts, part) && !(strings.HasSuffix(part, "#") && slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, part) })) {
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
			Namespace        string             `json:"namespace"`
			Name             string             `json:"name"`
			ConfigReferences []config           `json:"configReferences"`
			Conditions       []metav1.Condition `json:"conditions"`
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
	var claims []claim
	for _, p := range status.InstallProgressions {
		placement, has := r.same(keyOf(p.Namespace, p.Name)), versionOfConfigs(p.ConfigReferences)
		if !slices.ContainsFunc(s.refs, func(r ref) bool { return r.placement == placement && carries(has, r.version) }) {
			continue // it is about another configuration
		}
		claims = append(claims, o.claims(p.Conditions, placement, func(c metav1.Condition) (complete, succeeded bool) {
			is := c.Type == addonv1beta1.ManagedClusterAddOnConditionProgressing && c.Reason == addonv1beta1.ProgressingReasonCompleted
			return is, is
		})...)
	}
	e.class, e.state = isOwner, &ownerState{spec: s, deleting: o.Metadata.DeletionTimestamp != nil, silent: len(status.InstallProgressions) == 0, claims: claims, annotations: o.annotations()}
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
