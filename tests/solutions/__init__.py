"""Right and wrong solutions of the exercises, as readers might write them.

Each module holds ``RIGHT``, a dict of an exercise's name and a list of solutions, and
``WRONG``, the same with pairs of a solution and the name of the mistake that the check
must see in it, or None where no known mistake fits.
"""
