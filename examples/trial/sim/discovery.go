// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// discover returns a server's discovery documents, by path.
func discover(definitions Definitions) map[string][]byte {
	groups := map[string]*metav1.APIGroup{}
	resources := map[schema.GroupVersion]*metav1.APIResourceList{}
	for _, crd := range definitions.crds {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			gv := schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}
			if gv.Group == coreGroup {
				gv.Group = ""
			}
			if groups[gv.Group] == nil {
				groups[gv.Group] = &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: gv.Group}
			}
			if resources[gv] == nil {
				resources[gv] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
				groups[gv.Group].Versions = append(groups[gv.Group].Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version})
			}
			resources[gv].APIResources = append(resources[gv].APIResources, apiResources(crd, version)...)
		}
	}
	return encodeDiscovery(groups, resources)
}

func apiResources(crd *apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) []metav1.APIResource {
	names := crd.Spec.Names
	main := metav1.APIResource{
		Name: names.Plural, SingularName: names.Singular, Kind: names.Kind, Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		ShortNames: names.ShortNames, Categories: names.Categories,
		Verbs: metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
	}
	all := []metav1.APIResource{main}
	sub := func(name, kind, group, version string) {
		all = append(all, metav1.APIResource{Name: names.Plural + "/" + name, Kind: kind, Group: group, Version: version,
			Namespaced: main.Namespaced, Verbs: metav1.Verbs{"get", "patch", "update"}})
	}
	if version.Subresources != nil && version.Subresources.Status != nil {
		sub("status", names.Kind, "", "")
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		sub("scale", "Scale", "autoscaling", "v1")
	}
	return all
}

func encodeDiscovery(groups map[string]*metav1.APIGroup, resources map[schema.GroupVersion]*metav1.APIResourceList) map[string][]byte {
	answers := map[string][]byte{}
	encode := func(path string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // plain data always marshals
		}
		answers[path] = text
	}
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	core := metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{}}
	for name, group := range groups {
		slices.SortFunc(group.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
		group.PreferredVersion = group.Versions[0]
		if name == "" {
			core.Versions = append(core.Versions, "v1")
			continue
		}
		encode("/apis/"+name, group)
		list.Groups = append(list.Groups, *group)
	}
	slices.SortFunc(list.Groups, func(a, b metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	encode("/apis", list)
	encode("/api", core)
	for gv, l := range resources {
		if gv.Group == "" {
			encode("/api/"+gv.Version, l)
		} else {
			encode("/apis/"+gv.String(), l)
		}
	}
	encode("/version", map[string]string{"major": "1", "minor": kubernetesMinor, "gitVersion": "v1." + kubernetesMinor + ".0"})
	return answers
}

func answerDiscovery(w http.ResponseWriter, r *http.Request, answers map[string][]byte) {
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case answers[path] != nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers[path])
	case path == "/readyz" || path == "/livez" || path == "/healthz":
		_, _ = w.Write([]byte("ok"))
	default:
		notFound(w, r)
	}
}
