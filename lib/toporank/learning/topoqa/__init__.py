"""Networks of TopoQA, the published implementation, read and computed."""
