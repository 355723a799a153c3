// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"flag"
	"fmt"
	"net/url"
	"strings"
)

// Flags adds the flag -plugin, which registers a plugin and may be given several times: -plugin my-rollout=https://my-rollout.my-namespace:10843
func Flags() *Hooks {
	hooks := &Hooks{Registered: make(map[string]Plugin)}
	flag.Func("plugin", "a rollout plugin, as OCM's enhancement 231 has it: NAME=URL; may be given several times", hooks.register)
	return hooks
}

func (h *Hooks) register(text string) error {
	name, endpoint, is := strings.Cut(text, "=")
	at, err := url.Parse(endpoint)
	switch {
	case !is || name == "" || err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return fmt.Errorf("must be NAME=URL, such as my-rollout=https://my-rollout.my-namespace:10843")
	case h.Registered[name] != nil:
		return fmt.Errorf("%s is registered twice", name)
	}
	h.Registered[name] = HTTP{Endpoint: endpoint}
	return nil
}
