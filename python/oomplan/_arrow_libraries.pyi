NAMES: tuple[str, ...] | None
