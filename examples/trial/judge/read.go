// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Recording is what a recording says, without what is not judged.
type Recording struct {
	events []event
	// Lines counts the lines by the kind of their object, or by their type if they have none.
	Lines map[string]int
	// Ignored counts those of objects that have no part in a rollout.
	Ignored map[string]int
	// Late is by how much the recording saw an event late, at most, as far as its own lines show.
	Late time.Duration

	anew bool     // its lines are not in a file as they are
	logs []string // the names of the audit logs that it was made of
}

// maxLine is how long a line may be, in bytes. An object is at most 1.5 MB in etcd.
const maxLine = 16 << 20

// position is where a line stands in its input.
type position struct {
	line   int // number, from 1
	offset int64
	length int
}

// Read reads a recording, a line of JSON for each event, as [Line] says; or audit logs of Kubernetes: all that belong together, such
// as those that were rotated or that several API servers wrote, in any order. Any of them may be compressed by gzip. Nothing is left
// out silently: what cannot be read is an [InputError] with the number of the line. Objects of other kinds are counted.
func Read(in ...io.Reader) (*Recording, error) {
	shared := newReader()
	var logs [][]logged
	var names []string
	for _, raw := range in {
		name := ""
		if file, ok := raw.(interface{ Name() string }); ok && len(in) > 1 {
			name = file.Name()
		}
		buffered, packed, err := unpack(raw)
		if err != nil {
			return nil, &InputError{name, 1, err}
		}
		if !isAudit(buffered) {
			if len(in) > 1 {
				return nil, &InputError{name, 1, fmt.Errorf("this is not an audit log, and there are %d inputs: expected audit logs, or one recording", len(in))}
			}
			events, err := readLines(buffered, maxLine, shared.read)
			if err != nil {
				return nil, err
			}
			r, err := newRecording(events)
			if err == nil {
				r.anew = packed
			}
			return r, err
		}
		log, err := readLines(buffered, maxAuditLine, shared.audit)
		if err != nil {
			if wrong := new(InputError); errors.As(err, &wrong) {
				wrong.Input = name
			}
			return nil, err
		}
		logs, names = append(logs, log), append(names, name)
	}
	r, err := fromAudit(logs)
	if err == nil && len(names) > 1 {
		r.logs = names
	}
	return r, err
}

// unpack reads what gzip compressed, and anything else as it is.
func unpack(in io.Reader) (_ *bufio.Reader, packed bool, _ error) {
	const size = 1 << 20
	buffered := bufio.NewReaderSize(in, size)
	if start, _ := buffered.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return buffered, false, nil
	}
	plain, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, false, err
	}
	return bufio.NewReaderSize(plain, size), true, nil
}

// readLines reads lines on all processors, each into any number of things, in their order.
func readLines[T any](in *bufio.Reader, longest int, read func(at position, text []byte) ([]T, error)) (all []T, _ error) {
	type chunk struct {
		first  int
		offset int64
		lines  [][]byte
		things []T
		err    error
		done   chan struct{}
	}
	const most, mostBytes = 512, 4 << 20
	work, order := make(chan *chunk), make(chan *chunk, 4*runtime.GOMAXPROCS(0))
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for c := range work {
				offset := c.offset
				for i, text := range c.lines {
					things, err := read(position{c.first + i, offset, len(text)}, text)
					if err != nil {
						c.err = &InputError{Line: c.first + i, Err: err}
						break
					}
					offset += int64(len(text))
					c.things = append(c.things, things...)
				}
				c.lines = nil
				close(c.done)
			}
		})
	}
	var readErr error
	stop := make(chan struct{})
	go func() {
		defer close(order)
		defer close(work)
		number, offset := 1, int64(0)
		next, size := &chunk{first: 1, done: make(chan struct{})}, 0
		send := func() bool {
			if len(next.lines) == 0 {
				return true
			}
			select {
			case <-stop:
				return false
			case order <- next:
			}
			work <- next
			next, size = &chunk{first: number, offset: offset, done: make(chan struct{})}, 0
			return true
		}
		for {
			text, err := readLine(in, longest)
			if len(text) > 0 {
				next.lines = append(next.lines, text)
				number++
				offset += int64(len(text))
				size += len(text)
			}
			if (len(next.lines) == most || size > mostBytes) && !send() {
				return
			}
			if err == nil {
				continue
			}
			if !send() {
				return
			}
			if !errors.Is(err, io.EOF) {
				readErr = &InputError{Line: number, Err: err}
			}
			return
		}
	}()
	var err error
	for c := range order {
		<-c.done
		if all = append(all, c.things...); err == nil && c.err != nil {
			err = c.err
			close(stop)
		}
	}
	readers.Wait()
	if err == nil {
		err = readErr
	}
	return all, err
}

func readLine(in *bufio.Reader, longest int) (line []byte, _ error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > longest {
			return nil, fmt.Errorf("the line has more than %d bytes", longest)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// newRecording puts lines in the order of what they tell.
func newRecording(events []event) (*Recording, error) {
	r := &Recording{events: events, Lines: map[string]int{}, Ignored: map[string]int{}}
	if len(events) == 0 {
		return nil, errors.New("the recording is empty, expected a line of type BEGIN first")
	}
	if events[0].typed != typeBegin {
		return nil, &InputError{Line: 1, Err: fmt.Errorf("the type is %s, expected BEGIN", events[0].typed)}
	}
	listing := map[string]bool{} // what is listed, by kind
	for i := range events {
		e := &events[i]
		if e.class == isOther {
			r.Ignored[e.kind]++
		} else if e.class == isNothing {
			r.Lines[e.typed]++
		} else {
			r.Lines[e.kind]++
		}
		switch e.typed {
		case typeBegin:
			clear(listing)
			listing[""] = true
		case typeHole:
			listing[e.about] = true
		case typeListed:
			if !listing[e.about] {
				return nil, &InputError{Line: e.line, Err: fmt.Errorf("LISTED %s ends no list: expected a BEGIN or HOLE of it before", e.about)}
			}
			delete(listing, e.about)
		}
	}
	if events[len(events)-1].true != 0 { // it is part of another, in order already
		return r, nil
	}
	// Between what begins and ends lists, resource versions order the writes of all kinds.
	for from := 0; from < len(events); {
		to := from
		for to < len(events) && (events[to].class != isNothing || events[to].typed == typeBookmark) {
			to++
		}
		part := events[from:to]
		last := int64(0)
		for i := range part { // a bookmark stays behind what is before it
			if part[i].class == isNothing {
				part[i].rv = last
			}
			last = max(last, part[i].rv)
		}
		slices.SortStableFunc(part, byTime)
		from = to + 1
	}
	earliest := int64(math.MaxInt64)
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		earliest = min(earliest, e.at)
		e.true = earliest
		r.Late = max(r.Late, time.Duration(e.at-earliest))
	}
	return r, nil
}
