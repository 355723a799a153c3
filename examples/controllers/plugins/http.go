// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	workv1 "open-cluster-management.io/api/work/v1"
)

// HTTP is a plugin behind an endpoint, such as https://my-rollout.my-namespace:10843. The client's transport decides which
// certificates to trust; nil is http.DefaultClient.
type HTTP struct {
	Endpoint string
	Client   *http.Client
}

// mostAnswered is the limit of an answer in bytes: more than the limit of a Kubernetes object.
const mostAnswered = 4 << 20

type mutation struct {
	Request *Request             `json:"request"`
	Work    *workv1.ManifestWork `json:"manifestWork"`
}

// Initialize posts an empty request. Any status from 200 to 299 says that the plugin is ready. Errors of all methods name
// the method.
func (plugin HTTP) Initialize(ctx context.Context) error {
	return plugin.call(ctx, "Initialize", struct{}{}, nil)
}

// BeginRollout posts the request, and reads only the status of the answer.
func (plugin HTTP) BeginRollout(ctx context.Context, request *Request) error {
	return plugin.call(ctx, "BeginRollout", request, nil)
}

// ProgressRollout posts the request, and reads only the status of the answer.
func (plugin HTTP) ProgressRollout(ctx context.Context, request *Request) error {
	return plugin.call(ctx, "ProgressRollout", request, nil)
}

// ValidateRolloutCompletion posts the request, and decodes a Validation from the answer. It is not checked here.
func (plugin HTTP) ValidateRolloutCompletion(ctx context.Context, request *Request) (validation Validation, err error) {
	return validation, plugin.call(ctx, "ValidateRolloutCompletion", request, &validation)
}

// MutateManifestWork posts the request and the work, as request and manifestWork, and decodes the manifestWork of the
// answer, which is required.
func (plugin HTTP) MutateManifestWork(ctx context.Context, request *Request, work *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	var answer struct {
		Work *workv1.ManifestWork `json:"manifestWork"`
	}
	err := plugin.call(ctx, "MutateManifestWork", mutation{request, work}, &answer)
	if err == nil && answer.Work == nil {
		err = fmt.Errorf("MutateManifestWork: the answer must have a manifestWork")
	}
	return answer.Work, err
}

// call makes one request. An unwanted answer is ignored.
func (plugin HTTP) call(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(plugin.Endpoint, "/")+"/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	caller := plugin.Client
	if caller == nil {
		caller = http.DefaultClient
	}
	response, err := caller.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer response.Body.Close() // the body was read
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswered+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", method, err)
	case len(text) > mostAnswered:
		return fmt.Errorf("%s: the answer has more than %d bytes", method, mostAnswered)
	case response.StatusCode/100 != 2:
		return fmt.Errorf("%s: %s: %.200s", method, response.Status, bytes.TrimSpace(text))
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s: the answer must be JSON: %w", method, err)
	}
	return nil
}
