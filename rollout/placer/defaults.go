// SPDX-License-Identifier: Apache-2.0

package placer

import workv1 "open-cluster-management.io/api/work/v1"

// withDefaults gives a spec with the defaults that the API server has filled in where it stored the spec. Without them a ManifestWork
// would differ from the wanted one at each reconcile. An API server from before a field fills in nothing.
func withDefaults(spec, stored workv1.ManifestWorkSpec) workv1.ManifestWorkSpec {
	spec = *spec.DeepCopy()
	for i := range min(len(spec.ManifestConfigs), len(stored.ManifestConfigs)) {
		fillIn(&spec.ManifestConfigs[i], stored.ManifestConfigs[i])
	}
	return spec
}

// fillIn fills in the defaults of one manifest's configuration.
func fillIn(config *workv1.ManifestConfigOption, stored workv1.ManifestConfigOption) {
	fill(&config.FeedbackScrapeType, stored.FeedbackScrapeType, workv1.FeedbackPollType)
	if config.UpdateStrategy == nil || stored.UpdateStrategy == nil {
		return
	}
	fill(&config.UpdateStrategy.Type, stored.UpdateStrategy.Type, workv1.UpdateStrategyTypeUpdate)
	apply, storedApply := config.UpdateStrategy.ServerSideApply, stored.UpdateStrategy.ServerSideApply
	if apply != nil && storedApply != nil {
		fill(&apply.FieldManager, storedApply.FieldManager, workv1.DefaultFieldManager)
	}
}

// fill sets an empty field to its default where that is stored.
func fill[T ~string](field *T, stored, byDefault T) {
	if *field == "" && stored == byDefault {
		*field = byDefault
	}
}
