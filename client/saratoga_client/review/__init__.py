"""A finished race looked at again: who had banked what when, and where the boards parted. All pure."""
