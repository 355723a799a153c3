package controllers

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// replicas are two processes of a program, of which one leads.
type replicas struct {
	t               *testing.T
	start           func() *exec.Cmd
	leader, standby *exec.Cmd
	leases          *kubernetes.Clientset
	holder          string // of the lease
	takeovers       int
}

// elect starts a process, and another one when it leads.
func elect(t *testing.T, kubeconfig string, start func() *exec.Cmd) *replicas {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{t: t, start: start, leases: kubernetes.NewForConfigOrDie(config)}
	r.leader = start()
	r.await("a leader")
	r.standby = start()
	return r
}

// lease is the only lease of the hub.
func (r *replicas) lease() (lease coordinationv1.Lease) {
	list, err := r.leases.CoordinationV1().Leases("").List(r.t.Context(), metav1.ListOptions{})
	if err == nil && len(list.Items) > 0 {
		lease = list.Items[0]
	}
	return lease
}

// await waits until another process holds the lease.
func (r *replicas) await(what string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if holder := r.lease().Spec.HolderIdentity; holder != nil && *holder != "" && *holder != r.holder {
			r.holder = *holder
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// kill kills the leader. The standby takes over when the lease expires.
func (r *replicas) kill() {
	r.t.Helper()
	if err := r.leader.Process.Kill(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.leader.Wait()
	r.takeOver()
}

// freeze stops the leader like a machine that hangs, until the standby leads. Then it continues, finds another leader, and
// ends.
func (r *replicas) freeze() {
	r.t.Helper()
	frozen := r.leader
	if err := frozen.Process.Signal(syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	r.takeOver()
	time.Sleep(time.Second) // let the new leader work
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- frozen.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		r.t.Error("a process that lost its lease goes on")
	}
}

func (r *replicas) takeOver() {
	r.t.Helper()
	r.await("the other replica leads")
	r.leader, r.standby = r.standby, r.start()
	r.takeovers++
}
