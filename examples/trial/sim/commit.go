package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Commit is one write of an API server to its store.
type Commit struct {
	Revision int64
	Time     time.Time
	// Resource is the plural and the group, as in "manifestworks.work.open-cluster-management.io" or "configmaps.".
	Resource, Namespace, Name string
	// Value is the object as it is stored: JSON, in the version of storage, without a resourceVersion. A deletion has that of the object
	// before it. Both must not be changed.
	Value []byte
	// Before is the object as it was; nil, if it is created.
	Before  []byte
	Deleted bool
}

// keyPrefix is below which all objects are stored.
const keyPrefix = "/registry/"

func commitOf(event *clientv3.Event) Commit {
	c := Commit{Revision: event.Kv.ModRevision, Time: time.Now(), Value: event.Kv.Value, Deleted: event.Type == clientv3.EventTypeDelete}
	if event.PrevKv != nil {
		c.Before = event.PrevKv.Value
	}
	if c.Deleted {
		c.Value = c.Before
	}
	parts := strings.Split(strings.TrimPrefix(string(event.Kv.Key), keyPrefix), "/") // group, resource, namespace if it has one, name
	c.Resource, c.Name = parts[1]+"."+parts[0], parts[len(parts)-1]
	if parts[0] == coreGroup {
		c.Resource, c.Value, c.Before = parts[1]+".", fromCore(c.Value), fromCore(c.Before)
	}
	if len(parts) > 3 {
		c.Namespace = parts[2]
	}
	return c
}

// Into decodes the object, with the resourceVersion that clients see.
func (c Commit) Into(object metav1.Object) error {
	if err := json.Unmarshal(c.Value, object); err != nil {
		return fmt.Errorf("revision %d, %s %s/%s: %w", c.Revision, c.Resource, c.Namespace, c.Name, err)
	}
	object.SetResourceVersion(strconv.FormatInt(c.Revision, 10))
	return nil
}
