"""The plan of a program: one tree of operators for each rule. Explanations and execution both use it."""
