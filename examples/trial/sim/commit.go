// SPDX-License-Identifier: Apache-2.0

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
	// Resource is the plural and the group, such as "manifestworks.work.open-cluster-management.io", or "configmaps." for
	// the core group.
	Resource, Namespace, Name string
	// Value is the stored object: JSON in the storage version, without a resourceVersion. For a deletion it is the object
	// before. Do not change Value and Before.
	Value []byte
	// Before is the object before the write; nil for a create.
	Before  []byte
	Deleted bool
}

// keyPrefix is the prefix of all keys.
const keyPrefix = "/registry/"

func commitOf(event *clientv3.Event) Commit {
	commit := Commit{Revision: event.Kv.ModRevision, Time: time.Now(), Value: event.Kv.Value, Deleted: event.Type == clientv3.EventTypeDelete}
	if event.PrevKv != nil {
		commit.Before = event.PrevKv.Value
	}
	if commit.Deleted {
		commit.Value = commit.Before
	}
	parts := strings.Split(strings.TrimPrefix(string(event.Kv.Key), keyPrefix), "/") // group, resource, namespace (if any), name
	commit.Resource, commit.Name = parts[1]+"."+parts[0], parts[len(parts)-1]
	if parts[0] == coreGroup {
		commit.Resource, commit.Value, commit.Before = parts[1]+".", fromCore(commit.Value), fromCore(commit.Before)
	}
	if len(parts) > 3 {
		commit.Namespace = parts[2]
	}
	return commit
}

// Into decodes the object, with the resourceVersion that clients see.
func (c Commit) Into(object metav1.Object) error {
	if err := json.Unmarshal(c.Value, object); err != nil {
		return fmt.Errorf("revision %d, %s %s/%s: %w", c.Revision, c.Resource, c.Namespace, c.Name, err)
	}
	object.SetResourceVersion(strconv.FormatInt(c.Revision, 10))
	return nil
}
