"""Which names mean the model: its own, with `user.` before or `:latest` after it, and aliases of those."""

MODEL = "Probe"  # of the testbed's model, where it is given no other
ALIAS = "llm"  # and another name for it
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
        while current in self.aliases:
            current = self.aliases[current]
        return current

    def known(self, resolved: str) -> bool:
        return resolved in (self.model, f"user.{self.model}")

    def listed(self) -> list[str]:
        """The ids in the list of models: an alias whose target is written `user.X` is left out."""
        return [self.model, *(a for a in self.aliases if self.resolve(a) == self.model)]

    def add(self, alias: str, target: str) -> None:
        """Raises AliasConflict for the model's own name, an alias of itself, a circle and a long chain."""
        if self.known(alias):
            raise AliasConflict(
                f"Cannot create alias '{alias}': Name conflicts with an existing canonical model"
            )
        if alias == target:
            raise AliasConflict("Alias cannot point to itself")
        others = {name: to for name, to in self.aliases.items() if name != alias}
        current, hops = target, 1
        while current in others:
            current, hops = others[current], hops + 1
        if current == alias:
            raise AliasConflict(f"Circular alias dependency detected: {alias} -> {target}")
        if hops > _LONGEST_CHAIN:
            raise AliasConflict(f"Alias resolution chain exceeded max depth of {_LONGEST_CHAIN}")
        self.aliases = {alias: target, **others}

    def remove(self, alias: str) -> bool:
        return self.aliases.pop(alias, None) is not None
