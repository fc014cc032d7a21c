"""The shop's tests. Importing the shop first puts its vendored dependencies on the path."""

import shop as shop
