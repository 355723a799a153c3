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

// HTTP is a plugin behind an endpoint, such as https://my-rollout.my-namespace:10843. The client's transport knows whom to trust; nil is
// http.DefaultClient.
type HTTP struct {
	Endpoint string
	Client   *http.Client
}

// mostAnswered is how many bytes an answer may have: more than an object of Kubernetes.
const mostAnswered = 4 << 20

type mutation struct {
	Request *Request             `json:"request"`
	Work    *workv1.ManifestWork `json:"manifestWork"`
}

// Initialize posts nothing to Initialize. Any status of 200 to 299 says that the plugin is ready. The errors name the method, also below.
func (h HTTP) Initialize(ctx context.Context) error {
	return h.call(ctx, "Initialize", struct{}{}, nil)
}

// BeginRollout posts the request to BeginRollout, and reads nothing of the answer but its status.
func (h HTTP) BeginRollout(ctx context.Context, r *Request) error {
	return h.call(ctx, "BeginRollout", r, nil)
}

// ProgressRollout posts the request to ProgressRollout, and reads nothing of the answer but its status.
func (h HTTP) ProgressRollout(ctx context.Context, r *Request) error {
	return h.call(ctx, "ProgressRollout", r, nil)
}

// ValidateRolloutCompletion posts the request to ValidateRolloutCompletion, and reads a Validation from the JSON of the answer. What it says is not
// checked here.
func (h HTTP) ValidateRolloutCompletion(ctx context.Context, r *Request) (v Validation, err error) {
	return v, h.call(ctx, "ValidateRolloutCompletion", r, &v)
}

// MutateManifestWork posts the request and the work, as request and manifestWork, and reads the manifestWork of the answer, which must have one.
func (h HTTP) MutateManifestWork(ctx context.Context, r *Request, work *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	var answer struct {
		Work *workv1.ManifestWork `json:"manifestWork"`
	}
	err := h.call(ctx, "MutateManifestWork", mutation{r, work}, &answer)
	if err == nil && answer.Work == nil {
		err = fmt.Errorf("MutateManifestWork: the answer must have a manifestWork")
	}
	return answer.Work, err
}

// call makes one request. An answer that is not wanted may be anything.
func (h HTTP) call(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(h.Endpoint, "/")+"/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	caller := h.Client
	if caller == nil {
		caller = http.DefaultClient
	}
	response, err := caller.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	defer response.Body.Close() // nothing is lost that was read
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
