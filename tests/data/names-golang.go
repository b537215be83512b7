// A Go program whose time is spent in a function that was inlined twice. Few packages: see unwind-golang.go.
package main

import (
	"os"
	"time"
)

func inner(x uint64) uint64 {
	for i := 0; i < 64; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func middle(x uint64) uint64 { return inner(x) ^ x>>7 }

//go:noinline
func outer(x uint64) uint64 {
	return middle(x) + 1
}

type counter struct{ sum uint64 }

//go:noinline
func (c *counter) work(until time.Time) {
	for time.Now().Before(until) {
		for i := 0; i < 10000; i++ {
			c.sum += outer(c.sum)
		}
	}
}

func main() {
	var c counter
	c.work(time.Now().Add(1200 * time.Millisecond))
	if c.sum == 0 {
		os.Exit(1)
	}
}
