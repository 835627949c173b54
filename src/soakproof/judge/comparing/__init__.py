"""Several arms set side by side, for the qualification of a runtime, a driver or a profile. Pure; no I/O.

An arm is what its runs, or measurements that somebody entered, say of one thing under test. Only what is
alike is compared (`alike`); each metric gets a row with what can be said of it (`rows`, `judged`); beside
speed stand what differs in identity, the order in which arms were measured, answers, and drafts.
"""
