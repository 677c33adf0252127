"""What the script probe.py is made of. A package, so that no module of the image bears the name of one of its parts."""
