//go:build !debug || !linux

package reactor

const debugBuild = false

func threadID() int { return 0 }

func (l *Loop) assertLoop() {}
