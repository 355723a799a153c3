// SPDX-License-Identifier: Apache-2.0

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
	var err error
	if theHub, err = Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
