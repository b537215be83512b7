// Goroutines, clocks, maps, closures, growing stacks: the usual work of a Go program. Few packages, because a
// position-independent build compiles them too.
package main

import (
	"sync"
	"time"
)

type shape interface{ area(int) int }

type square struct{ side int }

func (s square) area(n int) int { return s.side * s.side * n }

func deep(n int) int {
	var room [64]int
	if n == 0 {
		return len(room)
	}
	room[n%64] = deep(n - 1)
	return room[n%64] + n
}

func words(k int) int {
	seen := map[string]int{}
	text := []byte("the quick brown fox")
	for i := 0; i < 50*k; i++ {
		text[i%len(text)]++
		seen[string(text)] += i
	}
	sum := 0
	for w, n := range seen {
		defer func() { sum += len(w) }()
		sum += n
	}
	return sum
}

func caught(k int) (n int) {
	defer func() {
		if r := recover(); r != nil {
			n = k
		}
	}()
	var none []int
	return none[k]
}

func main() {
	var wait sync.WaitGroup
	results := make(chan int, 4)
	shapes := []shape{square{2}, square{3}}
	for i := 1; i <= 4; i++ {
		wait.Add(1)
		go func(k int) {
			defer wait.Done()
			start := time.Now()
			time.Sleep(time.Millisecond)
			results <- deep(100*k) + words(k) + caught(k) + shapes[k%2].area(k) + int(time.Since(start)>>62)
		}(i)
	}
	wait.Wait()
	close(results)
	for r := range results {
		println(r)
	}
}
