// SPDX-License-Identifier: Apache-2.0

// Package policyv1 has the objects of policy.open-cluster-management.io that this library reads, with the fields that
// it reads: [Policy], [PolicySet] and [PlacementBinding].
//
// OCM's API module does not have them. The types have the JSON names of the real objects, so YAML and
// runtime.DefaultUnstructuredConverter fill them. Fields that are missing here are dropped: read with these types, but
// never write an object back with them.
//
// The types have no status. A strict decoder takes the manifests that users write, and refuses an object with a status, as it is
// read from a server: decode such an object without strictness, or its status alone. [PolicyStatus] has all fields of a Policy's
// status. The statuses of a PolicySet and a PlacementBinding have no type here.
package policyv1
