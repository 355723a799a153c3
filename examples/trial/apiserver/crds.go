// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// OCMDefinitions returns the paths of files of the OCM API module, such as
// "cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml". It runs the go command in the
// working directory, which a test has in its own module: the version is the one that this module requires. It looks into the
// module cache, also where that module vendors.
func OCMDefinitions(names ...string) ([]string, error) {
	const module = "open-cluster-management.io/api"
	var said strings.Builder
	list := exec.Command("go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("find the module %s: %w: %s", module, err, strings.TrimSpace(said.String()))
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return nil, fmt.Errorf("the module %s is not in the module cache, where its definitions are read: go mod download %s", module, module)
	}
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths, nil
}

// install creates custom resource definitions and waits until they are established.
func install(config *rest.Config, files []string) error {
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := establish(client, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func establish(client clientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	ctx := context.Background()
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		stored, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range stored.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}
