"""Huts and stays: plain values, without storage and without pages."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum


class Standing(Enum):
    CONFIRMED = "confirmed"
    WAITING = "waiting"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Hut:
    key: str
    name: str
    height: int
    beds: int
    rate: int
    closes: date


@dataclass(frozen=True)
class Stay:
    code: str
    hut: str
    guest: str
    arrival: date
    nights: int
    beds: int
    member: bool
    standing: Standing = Standing.WAITING

    @property
    def departure(self) -> date:
        return self.arrival + timedelta(days=self.nights)

    def covers(self, night: date) -> bool:
        """Tell whether the guest sleeps there in the night that begins on that day."""
        return self.arrival <= night < self.departure

    def each_night(self) -> list[date]:
        return [self.arrival + timedelta(days=offset) for offset in range(self.nights)]

    def standing_as(self, standing: Standing) -> "Stay":
        return replace(self, standing=standing)
