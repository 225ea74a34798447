// Package packages checks the Dockerfile, deploy/compose.yaml, deploy/kubernetes and deploy/systemd. The library or program that defines each
// format reads it, and the real `levelboard config check` reads its settings. It is a module of its own, so that the service's modules
// stay few.
//
// LEVELBOARD_BIN names the binary to check. Without it one is built as in the image (make static).
package packages
