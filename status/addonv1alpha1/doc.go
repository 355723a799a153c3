// SPDX-License-Identifier: Apache-2.0

// Package addonv1alpha1 reads and sets the objects of addon.open-cluster-management.io/v1alpha1 as package status does those of
// v1beta1. OCM's controllers use v1beta1 today, though API servers store v1alpha1. It is a package of its own, so that a program without
// such objects need not read of them.
package addonv1alpha1
