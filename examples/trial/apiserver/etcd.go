// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd starts an etcd that keeps its data below dir, and returns it with its address. It is quick rather
// than durable.
func startEtcd(dir string) (*embed.Etcd, string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", err
	}
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = dir
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100 // the defaults take up to a second to elect the only member
	config.EnableGRPCGateway = false           // it would dial the advertised port, which is 0
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, "http://" + etcd.Clients[0].Addr().String(), nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, "", fmt.Errorf("start etcd: %w", err)
	case <-time.After(time.Minute):
		etcd.Close()
		return nil, "", errors.New("etcd isn't ready after a minute")
	}
}
