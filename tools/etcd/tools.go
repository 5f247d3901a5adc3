//go:build tools

// Package tools pins the etcd that the tests run, and everything it is built from.
package tools

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
