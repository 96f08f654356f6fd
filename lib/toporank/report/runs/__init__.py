"""Folders that `toporank score` wrote: read again and compared in pairs."""
