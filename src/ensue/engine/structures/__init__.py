"""The structures that generated code works on: one module each, with its fields and its functions."""
