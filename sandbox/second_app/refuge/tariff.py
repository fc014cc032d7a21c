"""What a stay costs and what cancelling it costs, in cents."""

from datetime import date

from refuge.model import Hut, Stay

MEMBER_PERCENT = 60
LONG_STAY_NIGHTS = 5
LONG_STAY_OFF_PERCENT = 15
CITY_TAX = 110
FREE_UNTIL_DAYS = 14
HALF_UNTIL_DAYS = 3


def bed_rate(hut: Hut, member: bool) -> int:
    return hut.rate * MEMBER_PERCENT // 100 if member else hut.rate


def price_of(hut: Hut, stay: Stay) -> int:
    """Beds by nights, less the long-stay reduction, and the tax, which nobody is spared."""
    lodging = bed_rate(hut, stay.member) * stay.beds * stay.nights
    if stay.nights >= LONG_STAY_NIGHTS:
        lodging -= lodging * LONG_STAY_OFF_PERCENT // 100
    return lodging + CITY_TAX * stay.beds * stay.nights


def cancellation_fee(hut: Hut, stay: Stay, today: date) -> int:
    """Nothing two weeks ahead, half a night until three days ahead, then a full night."""
    ahead = (stay.arrival - today).days
    if ahead >= FREE_UNTIL_DAYS:
        return 0
    night = bed_rate(hut, stay.member) * stay.beds
    if ahead >= HALF_UNTIL_DAYS:
        return night // 2
    return night
