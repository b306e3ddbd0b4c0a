"""The exact test for stuck boards, and its searches."""
