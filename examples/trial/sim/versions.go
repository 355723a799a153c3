package sim

// kubernetesMinor is the minor version of Kubernetes whose code the server is.
const kubernetesMinor = "35"
