"""Folders that `toporank score` wrote: read again, compared in pairs, joined into one."""
