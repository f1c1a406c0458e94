module example.com/twice

go 1.26.0
