// Package addonv1alpha1 reads and sets the objects of addon.open-cluster-management.io/v1alpha1 as package status does those of
// v1beta1, which OCM's controllers use today. It has a room of its own, so that who has no such objects need not read of them.
package addonv1alpha1
