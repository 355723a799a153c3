// SPDX-License-Identifier: Apache-2.0

// Command trial judges rollout controllers by what happened on a hub.
//
//	trial record > hub.jsonl              records watches, with the kubeconfig that kubectl would use, until it is interrupted
//	trial judge hub.jsonl                 says what was broken; exit code 0: nothing, 1: something, 2: bad input, or nothing to judge
//	trial judge -html page.html hub.jsonl  the same, and a page with pictures; -json prints everything as JSON
//	trial judge audit*.log*               the same of Kubernetes audit logs
//	trial excerpt hub.jsonl 4711          the smallest recording that shows the finding of a line
//	trial anonymise hub.jsonl             the recording without names and payloads, to send to others
//	trial measure                         judges 1,000,000 events, and prints time and memory
package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
	"github.com/cohort-ocm/cohort/examples/trial/judge/should"
)

// The exit codes.
const (
	fine   = 0
	broken = 1
	bad    = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = "usage: trial record | judge [flags] [file...] | excerpt [flags] file... line | anonymise [flags] [file...] | measure"

func run(args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(errs, usage)
		return bad
	}
	var code int
	var err error
	switch args[0] {
	case "record":
		err = record(args[1:], out, errs)
	case "judge":
		code, err = judgeIt(args[1:], in, out)
	case "excerpt":
		err = excerpt(args[1:], out)
	case "anonymise":
		err = anonymise(args[1:], in, out, errs)
	case "measure":
		err = measure(args[1:], out)
	case "-h", "-help", "--help", "help":
		fmt.Fprintln(out, usage)
	default:
		err = fmt.Errorf("%q is not a command; %s", args[0], usage)
	}
	if errors.Is(err, flag.ErrHelp) {
		return fine
	}
	if err != nil {
		fmt.Fprintf(errs, "trial %s: %v\n", args[0], err)
		return bad
	}
	return code
}

func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet("trial "+name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // what is wrong is said in one line
	return f
}

// parse reads the flags, or prints them where that is asked for.
func parse(f *flag.FlagSet, args []string, out io.Writer) error {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "the flags of %s:\n", f.Name())
		f.SetOutput(out)
		f.PrintDefaults()
	case err != nil:
		return fmt.Errorf("%w; %s -h lists the flags", err, f.Name())
	}
	return err
}

// optionFlags are the flags of how a recording is judged.
func optionFlags(f *flag.FlagSet) *judge.Options {
	o := judge.DefaultOptions
	f.DurationVar(&o.Lag, "lag", o.Lag, "how far behind the truth a controller may be when it writes")
	f.DurationVar(&o.Patience, "patience", o.Patience, "for how long nothing may happen though something could")
	f.StringVar(&o.User, "user", "", "judge only what this user or user agent wrote; needs audit logs")
	f.StringVar(&o.IgnoreAnnotation, "ignore-annotation", "", "the annotation of an owner in which operators name ignored clusters, with commas between them")
	f.DurationVar(&o.RemoveAfter, "remove-after", o.RemoveAfter, "for how long a cluster has to be out of the decisions until it loses its object")
	f.Func("began", "when a process of the controller began, as 2026-01-01T00:00:00Z: it counts -remove-after anew; may be given once for each process", func(text string) error {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return errors.New("expected a time as 2026-01-01T00:00:00Z")
		}
		o.Began = append(o.Began, at)
		return nil
	})
	return &o
}

func check(o *judge.Options) error {
	switch {
	case o.Lag <= 0:
		return fmt.Errorf("-lag is %v, expected a positive time", o.Lag)
	case o.Patience <= 0:
		return fmt.Errorf("-patience is %v, expected a positive time", o.Patience)
	case o.RemoveAfter < 0:
		return fmt.Errorf("-remove-after is %v, expected 0 or a positive time", o.RemoveAfter)
	}
	o.Should = should.Happen
	return nil
}

// read reads the files, or the standard input where there is none, or one that is called -.
func read(args []string, in io.Reader) (*judge.Recording, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	var all []io.Reader
	for _, name := range args {
		if name == "-" {
			all = append(all, in)
			continue
		}
		if strings.HasPrefix(name, "-") {
			return nil, fmt.Errorf("%s stands behind a file, expected flags before all files", name)
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		all = append(all, file)
	}
	return judge.Read(all...)
}

func judgeIt(args []string, in io.Reader, out io.Writer) (int, error) {
	f := newFlags("judge")
	o := optionFlags(f)
	asJSON := f.Bool("json", false, "print everything as JSON")
	page := f.String("html", "", "a file for a page with pictures of the rollouts and the places of what was found")
	small := f.Bool("excerpts", true, "look for the lines that show each finding")
	if err := parse(f, args, out); err != nil {
		return bad, err
	}
	if err := check(o); err != nil {
		return bad, err
	}
	recording, err := read(f.Args(), in)
	if err != nil {
		return bad, err
	}
	report := judge.Judge(recording, *o)
	if *small {
		judge.Excerpts(recording, report, *o)
	}
	if *page != "" {
		if err := writePage(*page, recording, report); err != nil {
			return bad, err
		}
	}
	if *asJSON {
		to := json.NewEncoder(out)
		to.SetIndent("", "  ")
		err = to.Encode(report)
	} else {
		err = report.Print(out)
	}
	switch {
	case err != nil:
		return bad, err
	case report.Count(judge.Broken) > 0:
		return broken, nil
	case report.Judged <= 0 && len(report.Findings) == 0:
		return bad, fmt.Errorf("nothing was judged: no part of it is whole for longer than the lag of %v, from when everything was listed", o.Lag)
	}
	return fine, nil
}

func writePage(name string, r *judge.Recording, report *judge.Report) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(judge.Page(file, r, report), file.Close())
}

func excerpt(args []string, out io.Writer) error {
	f := newFlags("excerpt")
	o := optionFlags(f)
	kind := f.String("kind", "", "the kind of the finding, where a line has several")
	if err := parse(f, args, out); err != nil {
		return err
	}
	if err := check(o); err != nil {
		return err
	}
	last := f.NArg() - 1
	if last < 1 {
		return fmt.Errorf("%d arguments, expected a file and the number of a line", f.NArg())
	}
	line, err := strconv.Atoi(f.Arg(last))
	if err != nil {
		return fmt.Errorf("the line is %q, expected a number", f.Arg(last))
	}
	if slices.Contains(f.Args()[:last], "-") {
		return errors.New("- is the standard input, expected a file: a recording is read twice")
	}
	recording, err := read(f.Args()[:last], nil)
	if err != nil {
		return err
	}
	file, err := os.Open(f.Arg(0)) // of audit logs nothing is copied
	if err != nil {
		return err
	}
	defer file.Close()
	report := judge.Judge(recording, *o)
	i := slices.IndexFunc(report.Findings, func(x judge.Finding) bool { return x.Line == line && (*kind == "" || x.Kind == judge.Kind(*kind)) })
	if i < 0 {
		of := ""
		if *kind != "" {
			of = fmt.Sprintf("of the kind %q ", *kind)
		}
		return fmt.Errorf("nothing %swas found in line %d: trial judge says where something was", of, line)
	}
	judge.Excerpt(recording, report, i, *o, nil)
	if len(report.Findings[i].Excerpt) == 0 {
		return fmt.Errorf("too many lines have to do with line %d", line)
	}
	return judge.Lines(out, file, recording, report.Findings[i].Excerpt)
}

func anonymise(args []string, in io.Reader, out, errs io.Writer) error {
	f := newFlags("anonymise")
	salt := f.String("salt", "", "a secret with which names are hashed, so that they are the same in several recordings; a new one if empty")
	if err := parse(f, args, out); err != nil {
		return err
	}
	recording, err := read(f.Args(), in)
	if err != nil {
		return err
	}
	secret := []byte(*salt)
	if len(secret) == 0 {
		secret = make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
	}
	for kind, n := range recording.Ignored {
		fmt.Fprintf(errs, "%d lines of %s are left out, which are not judged\n", n, kind)
	}
	return judge.Anonymise(out, recording, secret)
}
