//go:build unix

package main

import "syscall"

// descriptors returns how many files the process may open.
func descriptors() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit.Cur, err
}
