module colo

go 1.24
