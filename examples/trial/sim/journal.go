// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// journal has a line for each message and each write of a world, with its virtual time in nanoseconds since the world began.
type journal struct {
	mu       sync.Mutex
	began    time.Time
	text     io.Writer    // may be nil
	pending  bytes.Buffer // written to text when the world has ended: a system call would change which goroutine runs next
	all      xxhash.Digest
	writes   xxhash.Digest
	lines    int
	messages int
	line     []byte
	seen     *overseer
}

func newJournal(text io.Writer) *journal {
	journal := &journal{text: text, began: time.Now()}
	journal.all.Reset()
	journal.writes.Reset()
	return journal
}

func (j *journal) note(kind, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if kind == ">" {
		j.messages++
	}
	j.add(kind, format, args...)
	_, _ = j.all.Write(j.line)
	j.print()
}

func (j *journal) add(kind, format string, args ...any) {
	j.lines++
	j.seen.progress.Add(1)
	j.line = fmt.Appendf(j.line[:0], "%d %s ", time.Since(j.began), kind)
	j.line = fmt.Appendf(j.line, format, args...)
	j.line = append(j.line, '\n')
}

func (j *journal) print() {
	if j.text != nil {
		j.pending.Write(j.line)
	}
}

func (j *journal) flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.text == nil {
		return nil
	}
	_, err := j.pending.WriteTo(j.text)
	return err
}

// write adds a line for a write. The text also has the object; the hash has not.
func (j *journal) write(store string, commit Commit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	verb := "="
	if commit.Deleted {
		verb = "x"
	}
	j.add(verb, "%s %d %s %s/%s %x", store, commit.Revision, commit.Resource, commit.Namespace, commit.Name, xxhash.Sum64(commit.Value))
	_, _ = j.all.Write(j.line)
	_, _ = j.writes.Write(j.line)
	if j.text != nil {
		j.line = fmt.Appendf(j.line[:len(j.line)-1], " %s\n", bytes.TrimSuffix(commit.Value, []byte("\n")))
		j.print()
	}
}
