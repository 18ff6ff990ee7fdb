package colo.bench; final class Nothing {}
