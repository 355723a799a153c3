package judge

import (
	"bufio"
	"bytes"
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
}

// maxLine is how long a line may be, in bytes. An object is at most 1.5 MB in etcd.
const maxLine = 16 << 20

// Read reads a recording: a line of JSON for each event, as [Line] says. Nothing is left out silently: what cannot be read is
// an [InputError] with the number of the line. Objects of other kinds are counted.
func Read(in io.Reader) (*Recording, error) {
	type chunk struct {
		first  int
		offset int64
		lines  [][]byte
		events []event
		err    error
		done   chan struct{}
	}
	const size = 512
	work, order := make(chan *chunk), make(chan *chunk, 4*runtime.GOMAXPROCS(0))
	shared := newReader()
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for c := range work {
				offset := c.offset
				for i, text := range c.lines {
					e, err := shared.read(bytes.TrimRight(text, "\r\n"))
					if err != nil {
						c.err = &InputError{c.first + i, err}
						break
					}
					e.line, e.offset, e.length = c.first+i, offset, len(text)
					offset += int64(len(text))
					c.events = append(c.events, e)
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
		buffered := bufio.NewReaderSize(in, 1<<20)
		number, offset := 1, int64(0)
		next := &chunk{first: 1, done: make(chan struct{})}
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
			next = &chunk{first: number, offset: offset, done: make(chan struct{})}
			return true
		}
		for {
			text, err := readLine(buffered)
			if len(text) > 0 {
				next.lines = append(next.lines, text)
				number++
				offset += int64(len(text))
			}
			if len(next.lines) == size && !send() {
				return
			}
			if err == nil {
				continue
			}
			if !send() {
				return
			}
			if !errors.Is(err, io.EOF) {
				readErr = &InputError{number, err}
			}
			return
		}
	}()
	var events []event
	var err error
	for c := range order {
		<-c.done
		if events = append(events, c.events...); err == nil && c.err != nil {
			err = c.err
			close(stop)
		}
	}
	readers.Wait()
	if err == nil {
		err = readErr
	}
	if err != nil {
		return nil, err
	}
	return newRecording(events)
}

func readLine(in *bufio.Reader) (line []byte, _ error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("the line has more than %d bytes", maxLine)
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
		return nil, &InputError{1, fmt.Errorf("the type is %s, expected BEGIN", events[0].typed)}
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
				return nil, &InputError{e.line, fmt.Errorf("LISTED %s ends no list: expected a BEGIN or HOLE of it before", e.about)}
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
