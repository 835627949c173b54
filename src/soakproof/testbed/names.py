"""Which names mean the model: its own, with `user.` before or `:latest` after it, and aliases of those."""

_LONGEST_CHAIN = 10


class AliasConflict(Exception):
    """An alias that cannot be; the message is Lemonade's."""


class Names:
    """The registered model's name and the aliases, newest first as Lemonade lists them."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.aliases: dict[str, str] = {}

    def resolve(self, name: str) -> str:
        """What a name stands for in the end; a name that is no alias stands for itself."""
        current = name.removesuffix(":latest")
        for _ in range(_LONGEST_CHAIN):
            if current not in self.aliases:
                break
            current = self.aliases[current]
        return current

    def known(self, resolved: str) -> bool:
        return resolved in (self.model, f"user.{self.model}")

    def listed(self) -> list[str]:
        """The ids in the list of models: an alias whose target is written `user.X` is left out."""
        return [self.model, *(a for a in self.aliases if self.resolve(a) == self.model)]

    def add(self, alias: str, target: str) -> None:
        """Raises AliasConflict for the model's own name, an alias of itself and a circle."""
        if self.known(alias):
            raise AliasConflict(
                f"Cannot create alias '{alias}': Name conflicts with an existing canonical model"
            )
        if alias == target:
            raise AliasConflict("Alias cannot point to itself")
        current, seen = target, {alias}
        while current in self.aliases:
            if current in seen:
                break
            seen.add(current)
            current = self.aliases[current]
        if current in seen:
            raise AliasConflict(f"Circular alias dependency detected: {alias} -> {target}")
        self.aliases = {alias: target, **self.aliases}

    def remove(self, alias: str) -> bool:
        return self.aliases.pop(alias, None) is not None
