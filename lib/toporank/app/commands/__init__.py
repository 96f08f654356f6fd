"""The commands of `toporank` that run the workflow, and the one that checks the installation."""
