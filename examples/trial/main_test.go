package trial

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// theHub is shared by all tests.
var theHub *Hub

func TestMain(m *testing.M) {
	flag.Parse()
	var definitions []string
	var err error
	if more := foreignKinds[Kind(*flagKind)].definitions; more != nil {
		definitions, err = more()
	}
	if err == nil {
		theHub, err = Start(definitions...)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if err := theHub.Stop(); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}
