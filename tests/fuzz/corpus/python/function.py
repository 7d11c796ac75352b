def f(a, *b, c=1) -> d:
	global e
	e += 2 ** -1
