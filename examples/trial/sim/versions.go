package sim

// kubernetesMinor is the Kubernetes minor version of the server code.
const kubernetesMinor = "35"
