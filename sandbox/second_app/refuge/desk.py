"""The desk: takes and cancels stays, and knows who sleeps where. Its memory is the journal."""

import threading
from datetime import date
from typing import Any

from refuge.journal import Journal
from refuge.model import Hut, Standing, Stay
from refuge.tariff import cancellation_fee

LONGEST_STAY = 14


class Declined(Exception):
    """The desk says no; the text is meant for the guest."""


class Desk:
    """One desk for all huts. Safe to use from several threads."""

    def __init__(self, journal: Journal) -> None:
        self.huts: dict[str, Hut] = {}
        self.stays: dict[str, Stay] = {}
        self.today = date.min
        self._journal = journal
        self._lock = threading.Lock()
        for entry in journal.entries():
            self._learn(entry)

    def open_season(self, today: str, huts: list[dict[str, Any]]) -> None:
        with self._lock:
            self._note({"what": "season", "today": today, "huts": huts})

    def ask(
        self, hut: str, guest: str, arrival: date, nights: int, beds: int, member: bool
    ) -> Stay:
        """Take a stay: confirmed if every night has the beds, waiting otherwise. Or decline it."""
        with self._lock:
            self._refuse_nonsense(hut, guest, arrival, nights, beds)
            code = f"{hut[:2].upper()}{len(self.stays) + 1:03d}"
            stay = Stay(code, hut, guest.strip(), arrival, nights, beds, member)
            if self._fits(stay):
                stay = stay.standing_as(Standing.CONFIRMED)
            self._note(_asked(stay))
            return stay

    def cancel(self, code: str) -> int:
        """Cancel a stay, move up whoever fits now, and return the fee. A waiting stay pays none."""
        with self._lock:
            stay = self.stays.get(code)
            if stay is None or stay.standing is Standing.CANCELLED:
                raise Declined(f"There is no stay {code} to cancel.")
            fee = 0
            if stay.standing is Standing.CONFIRMED:
                fee = cancellation_fee(self.huts[stay.hut], stay, self.today)
            self._note({"what": "moved", "code": code, "to": Standing.CANCELLED.value})
            self._move_up(stay.hut)
            return fee

    def free_beds(self, hut: str, night: date) -> int:
        taken = sum(
            stay.beds
            for stay in self.stays.values()
            if stay.hut == hut and stay.standing is Standing.CONFIRMED and stay.covers(night)
        )
        return self.huts[hut].beds - taken

    def waiting(self, hut: str) -> list[Stay]:
        """Return who waits for a hut, first come first."""
        return [
            stay
            for stay in self.stays.values()
            if stay.hut == hut and stay.standing is Standing.WAITING
        ]

    def sleeping(self, hut: str, night: date) -> list[Stay]:
        """Return who sleeps in a hut that night, by name."""
        found = [
            stay
            for stay in self.stays.values()
            if stay.hut == hut and stay.standing is Standing.CONFIRMED and stay.covers(night)
        ]
        return sorted(found, key=lambda stay: stay.guest)

    def _refuse_nonsense(self, hut: str, guest: str, arrival: date, nights: int, beds: int) -> None:
        if hut not in self.huts:
            raise Declined("We have no such hut.")
        if not guest.strip():
            raise Declined("Who is coming? Please give a name.")
        if not 1 <= nights <= LONGEST_STAY:
            raise Declined(f"A stay has between 1 and {LONGEST_STAY} nights.")
        if not 1 <= beds <= self.huts[hut].beds:
            raise Declined(f"{self.huts[hut].name} has {self.huts[hut].beds} beds.")
        if arrival < self.today:
            raise Declined("That day is over.")
        if Stay("", hut, guest, arrival, nights, beds, False).departure > self.huts[hut].closes:
            raise Declined(f"{self.huts[hut].name} closes on {self.huts[hut].closes}.")

    def _fits(self, stay: Stay) -> bool:
        return all(self.free_beds(stay.hut, night) >= stay.beds for night in stay.each_night())

    def _move_up(self, hut: str) -> None:
        for stay in self.waiting(hut):
            if self._fits(stay):
                self._note({"what": "moved", "code": stay.code, "to": Standing.CONFIRMED.value})

    def _note(self, entry: dict[str, Any]) -> None:
        self._journal.write(entry)
        self._learn(entry)

    def _learn(self, entry: dict[str, Any]) -> None:
        if entry["what"] == "season":
            self.today = date.fromisoformat(entry["today"])
            for hut in entry["huts"]:
                closes = date.fromisoformat(hut["closes"])
                self.huts[hut["key"]] = Hut(**{**hut, "closes": closes})
        elif entry["what"] == "asked":
            told = {key: value for key, value in entry.items() if key != "what"}
            told["arrival"] = date.fromisoformat(told["arrival"])
            told["standing"] = Standing(told["standing"])
            self.stays[told["code"]] = Stay(**told)
        elif entry["what"] == "moved":
            moved = self.stays[entry["code"]].standing_as(Standing(entry["to"]))
            self.stays[entry["code"]] = moved


def _asked(stay: Stay) -> dict[str, Any]:
    return {
        "what": "asked",
        "code": stay.code,
        "hut": stay.hut,
        "guest": stay.guest,
        "arrival": stay.arrival.isoformat(),
        "nights": stay.nights,
        "beds": stay.beds,
        "member": stay.member,
        "standing": stay.standing.value,
    }
