"""Amounts of money are whole cents everywhere; only here do they become text."""


def show_money(cents: int) -> str:
    """Write 1250 as 12.50, and a negative amount with its sign in front."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}.{rest:02d}"
