package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// front puts an address in front of the server that also tells which API groups there are. In Kubernetes the
// kube-apiserver does; a server of custom resources alone doesn't. It returns a configuration for it.
func front(config *rest.Config, groups ...string) (*rest.Config, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.Transport, proxy.FlushInterval = transport, -1 // a watch is never done

	all := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, name := range groups {
		var group metav1.APIGroup
		answer, err := (&http.Client{Transport: transport}).Get(config.Host + "/apis/" + name)
		if err != nil {
			return nil, err
		}
		err = json.NewDecoder(answer.Body).Decode(&group)
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		all.Groups = append(all.Groups, group)
	}
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	mux.HandleFunc("GET /apis", answer(all))
	mux.HandleFunc("GET /api", answer(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}}))

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go http.Serve(listener, mux) // until the process ends
	return &rest.Config{Host: "http://" + listener.Addr().String()}, nil
}

func answer(with any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(with)
	}
}
