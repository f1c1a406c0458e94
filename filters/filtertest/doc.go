// Package filtertest runs filters in tests, without a gateway. An Exchange holds
// the context of one exchange, plays the engine's part for it, and records what
// an engine would have done: deadlines armed, panics caught, resumes ignored.
//
// It is for tests of filters, those of this repository and those of plugins. No
// program imports it.
package filtertest
