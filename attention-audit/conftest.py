"""That pytest finds this file lets the tests import what lies beside it."""
