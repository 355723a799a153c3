// Package policyv1 has the objects of policy.open-cluster-management.io that this library reads, as far as it reads
// them: [Policy], [PolicySet] and [PlacementBinding].
//
// OCM's API module does not have them. Their JSON names are the real objects', so YAML and
// runtime.DefaultUnstructuredConverter fill them. What has no field here is dropped: read with these types, and
// never write an object back with them.
package policyv1
