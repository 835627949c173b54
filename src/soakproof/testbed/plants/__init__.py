"""Faults that can be planted, one file each: the file's name, with dashes, is the plant's."""
