"""A second, plain implementation of the published method that the library is compared with."""
