package rollout

import (
	_ "open-cluster-management.io/api/cluster/v1"
	_ "open-cluster-management.io/api/cluster/v1alpha1"
	_ "open-cluster-management.io/api/cluster/v1beta1"
)
