-- Prints what the benchmark runner reads: one line of JSON after "REPORT ".
-- Only `done` is defined: a function per request or response would slow wrk down.

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'REPORT {"requests":%d,"seconds":%.6f,"p50":%.1f,"p90":%.1f,"p99":%.1f,"max":%.1f,"failures":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50), latency:percentile(90), latency:percentile(99), latency.max,
    e.connect + e.read + e.write + e.status + e.timeout))
end
