"""The plan of a program: one tree of operators for each rule, which is explained, executed and partitioned."""
