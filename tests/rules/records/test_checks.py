"""The outcome of one check."""

from saratoga_rules.records.checks import Check, check_of


def test_a_check_with_faults_names_them_all_and_one_without_says_what_holds() -> None:
    assert check_of("times", iter(["one", "two"]), "in order") == Check("times", False, "one; two")
    assert check_of("times", iter([]), "in order") == Check("times", True, "in order")
