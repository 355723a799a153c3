// Command placed places ManifestWorks for ManifestWorkReplicaSets with one placement, with package placer. It refuses a set
// with several placementRefs: see works for those.
//
//	go run ./placed -kubeconfig ~/.kube/config
//
// Its tests run package placer in virtual time, over Kubernetes' own server code.
package main

import (
	"flag"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cohort-ocm/cohort/rollout/placer"
	"github.com/cohort-ocm/cohort/status"
)

type replicaSet = workv1alpha1.ManifestWorkReplicaSet

// setLabel has namespace.name of the set of a work, as OCM's controller writes it.
const setLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

var replicaSets = placer.Kind[*replicaSet]{
	Rollout:    rolloutOf,
	Conditions: func(set *replicaSet) *[]metav1.Condition { return &set.Status.Conditions },
	Show: func(set *replicaSet, p placer.Progress) {
		shown := status.PlacementProgress{Name: set.Spec.PlacementRefs[0].Name, Groups: p.Groups, Works: p.Works, Summary: p.Summary()}
		status.SetReplicaSetStatus(&set.Status, []status.PlacementProgress{shown}, set.Generation, metav1.Now().Time)
	},
}

// rolloutOf is what a set wants.
func rolloutOf(set *replicaSet) (placer.Rollout, error) {
	refs := field.NewPath("spec", "placementRefs")
	if len(set.Spec.PlacementRefs) != 1 {
		return placer.Rollout{}, fmt.Errorf("%s has %d entries, and must have one", refs, len(set.Spec.PlacementRefs))
	}
	ref := set.Spec.PlacementRefs[0]
	return placer.Rollout{
		Placement: ref.Name,
		Strategy:  ref.RolloutStrategy,
		Path:      refs.Index(0).Child("rolloutStrategy"),
		Work:      set.Spec.ManifestWorkTemplate,
		Labels:    map[string]string{setLabel: set.Namespace + "." + set.Name},
	}, nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{
		clusterv1.Install, clusterv1beta1.Install, workv1.Install, workv1alpha1.Install,
	} {
		utilruntime.Must(install(scheme))
	}
	return scheme
}

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: newScheme(), LeaderElection: true, LeaderElectionID: "placed", LeaderElectionNamespace: "default",
	})
	utilruntime.Must(err)
	utilruntime.Must(placer.For(manager, replicaSets).Complete())
	utilruntime.Must(manager.Start(ctrl.SetupSignalHandler()))
}
