"""The engine where the data is: programs on Spark, on tables and on streams."""
