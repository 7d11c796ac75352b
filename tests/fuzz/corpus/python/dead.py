if False:
  f(x=1)
else: g(y="\x41" f"{z}")
