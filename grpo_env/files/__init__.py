"""Files of rows: JSONL, JSON, CSV and Parquet, compressed or not, read and written as streams."""
