"""python3 -m petscrrb prints the path of the plugin, for -dll_append."""
from petscrrb import LIBRARY

print(LIBRARY)
