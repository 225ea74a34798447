//go:build !linux

package cli

func forgetCode() {}
