"""When tokens came: the three first-token clocks, the last one and the widest gap. No I/O, no clock."""


class TokenTimes:
    """Times of one exchange's token events, in nanoseconds on the run clock."""

    def __init__(self) -> None:
        self.events = 0
        self.first_ns: int | None = None  # of any kind
        self.first_content_ns: int | None = None
        self.first_visible_ns: int | None = None  # content other than white space
        self.last_ns: int | None = None
        self.widest_gap_ns: int | None = None
        self.widest_gap_at: int | None = None  # index of the event after the gap

    def token(self, t_ns: int, content: str) -> None:
        """A delta with progress in it came; ``content`` is what it adds to the answer, if anything."""
        if self.last_ns is None:
            self.first_ns = t_ns
        else:
            gap = t_ns - self.last_ns
            if self.widest_gap_ns is None or gap > self.widest_gap_ns:
                self.widest_gap_ns, self.widest_gap_at = gap, self.events
        self.last_ns = t_ns
        self.events += 1
        if self.first_visible_ns is None and content:
            if self.first_content_ns is None:
                self.first_content_ns = t_ns
            if not content.isspace():
                self.first_visible_ns = t_ns

    def spread_ns(self) -> int | None:
        """From the first token event to the last; None before the first."""
        return None if self.first_ns is None or self.last_ns is None else self.last_ns - self.first_ns
