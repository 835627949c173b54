"""`python -m soakproof.testbed`: the gateway and its engine, until they are ended."""

from soakproof.testbed.gateway import main

main()
