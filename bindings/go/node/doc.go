// Package node makes a process a part of a platform: it gets a seat from master, reads, sleeps, and leaves.
//
// Written from docs/registration.md. After Join, master is needed for nothing more.
package node
