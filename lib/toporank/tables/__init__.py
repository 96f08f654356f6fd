"""The tables of results, declared once.

`columns` says which columns each table has and what they mean; `table` types, writes and reads
them, and makes the page's columns and the documentation from them; `notes` has sentences.
"""
