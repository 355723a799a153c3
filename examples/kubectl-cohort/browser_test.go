// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a page in a headless chromium, which is driven over a pipe: messages of its DevTools protocol, each with a zero behind it.
type browser struct {
	t       *testing.T
	in      io.Writer
	answers chan answer
	session string
	last    int
	events  []answer // that came so far
}

type answer struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// browse opens a file. Without chromium the test is skipped; .ci/run installs it.
func browse(t *testing.T, file string) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("there is no chromium to look at the page with: apt-get install chromium")
	}
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "chromium") // its processes write there for a while after it has ended, which t.TempDir calls a failure
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+profile, "--window-size=1100,1400", "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{commands, answers} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	commands.Close()
	answers.Close()
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
		for end := time.Now().Add(10 * time.Second); os.RemoveAll(profile) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	b := &browser{t: t, in: in, answers: make(chan answer, 1000)}
	go func() {
		defer close(b.answers)
		for r := bufio.NewReader(out); ; {
			text, err := r.ReadBytes(0)
			var a answer
			if err != nil || json.Unmarshal(text[:len(text)-1], &a) != nil {
				return
			}
			b.answers <- a
		}
	}()
	var target struct{ TargetID, SessionID string }
	b.call(&target, "Target.createTarget", map[string]any{"url": "about:blank"})
	b.call(&target, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Log"} {
		b.call(nil, domain+".enable", nil)
	}
	b.call(nil, "Page.navigate", map[string]any{"url": "file://" + file})
	b.until("document.readyState", "complete")
	return b
}

// call sends a command and waits for its answer, at most a minute.
func (b *browser) call(into any, method string, params map[string]any) {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for late := time.After(time.Minute); ; {
		select {
		case a, open := <-b.answers:
			switch {
			case !open:
				b.t.Fatalf("%s: chromium has ended", method)
			case a.ID == 0:
				b.events = append(b.events, a)
				continue
			case a.ID != b.last:
				continue
			case a.Error != nil:
				b.t.Fatalf("%s: %s", method, a.Error.Message)
			case into != nil:
				if err := json.Unmarshal(a.Result, into); err != nil {
					b.t.Fatal(err)
				}
			}
			return
		case <-late:
			b.t.Fatalf("%s: no answer within a minute", method)
		}
	}
}

// eval gives the text of what an expression is.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call(&got, "Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true})
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, got.ExceptionDetails)
	}
	return fmt.Sprint(got.Result.Value)
}

// until waits until an expression is so, at most a minute.
func (b *browser) until(expression, want string) {
	b.t.Helper()
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = b.eval(expression); strings.Contains(got, want) {
			return
		}
	}
	b.t.Fatalf("%s: %q, want %q", expression, got, want)
}

// mouse does something with the mouse at a place in the middle of an element.
func (b *browser) mouse(kind, element string, across float64) {
	b.t.Helper()
	var x, y float64
	place := b.eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left + r.width * %v, r.top + r.height / 2] })()", element, across))
	if _, err := fmt.Sscanf(strings.ReplaceAll(place, ",", " "), "%g %g", &x, &y); err != nil {
		b.t.Fatalf("%s: %s: %v", element, place, err)
	}
	b.call(nil, "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": map[bool]string{true: "none", false: "left"}[kind == "mouseMoved"], "clickCount": 1})
}

// faults are what the page asked the network for, and what went wrong in it.
func (b *browser) faults(file string) (all []string) {
	b.t.Helper()
	for _, e := range b.events {
		var p struct {
			Request struct{ URL string }
			Entry   struct{ Level, Text string }
		}
		_ = json.Unmarshal(e.Params, &p)
		url, _, _ := strings.Cut(p.Request.URL, "#")
		switch {
		case e.Method == "Network.requestWillBeSent" && url != "file://"+file:
			all = append(all, "asks for "+p.Request.URL)
		case e.Method == "Runtime.exceptionThrown":
			all = append(all, "throws "+string(e.Params))
		case e.Method == "Log.entryAdded" && p.Entry.Level == "error":
			all = append(all, "logs "+p.Entry.Text)
		}
	}
	return all
}
