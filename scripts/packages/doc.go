// Package packages checks what Levelboard is delivered in: the Dockerfile, deploy/compose.yaml, deploy/kubernetes and
// deploy/systemd. Each is read by the library or the program that defines its format, and its settings are given to the real
// `levelboard config check`. It is a module of its own, so that none of that is among the service's modules.
//
// LEVELBOARD_BIN names the binary to ask and to weigh; without it, one is built as the image has it (make static).
package packages
