"""Reads and writes files of rows as streams: JSONL, JSON, CSV and Parquet, compressed or not."""
