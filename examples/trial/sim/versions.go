// SPDX-License-Identifier: Apache-2.0

package sim

// kubernetesMinor is the Kubernetes minor version of the server code.
const kubernetesMinor = "35"
