package colo.test; final class Nothing17 {}
