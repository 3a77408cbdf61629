// Package imagetest runs what the OCI image contains, as a container would: its user, its
// settings, its root read-only. It needs root, and no container engine.
package imagetest
