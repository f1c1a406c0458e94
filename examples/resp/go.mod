module example.com/corelane-resp

go 1.26.0

require github.com/corelane/corelane v0.0.0

replace github.com/corelane/corelane => ../..
