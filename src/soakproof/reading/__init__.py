"""What `soakproof.exchange` is made of: each module reads one part of a response. No I/O in any of them."""
