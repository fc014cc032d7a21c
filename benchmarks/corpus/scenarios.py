"""What users do with the applications; what they see on the faultless ones is what is right."""

from __future__ import annotations

from dataclasses import dataclass

from activities.procedures.grammar import Missing, read_report
from orchestrator.contracts.procedure import Procedure

SIGN_IN = '1. Sign in as "ada" with the secret SHOP_PASSWORD on /account/sign-in\n'
SHOP = {
    "shelf": "1. Open /wares",
    "second page": '1. Open /wares\n2. Click "Next page"',
    "last page": "1. Open /wares?page=3",
    "search": '1. Open /wares\n2. Type "kettle" into "Find a ware"\n3. Click "Search"',
    "ware": "1. Open /wares/copper-kettle",
    "basket": '1. Open /wares/blue-mug\n2. Type "3" into "Quantity"\n3. Click "Add to basket"',
    "wrapped": (
        '1. Open /wares/blue-mug\n2. Type "4" into "Quantity"\n3. Click "Add to basket"\n'
        '4. Tick "Gift wrapping"\n5. Click "Update basket"'
    ),
    "too many": '1. Open /wares/blue-mug\n2. Type "11" into "Quantity"\n3. Click "Add to basket"',
    "removed": (
        '1. Open /wares/blue-mug\n2. Click "Add to basket"\n3. Open /wares/birch-bowl\n'
        '4. Click "Add to basket"\n5. Click "Remove" next to "Blue mug"'
    ),
    "dear": '1. Open /wares/copper-kettle\n2. Type "3" into "Quantity"\n3. Click "Add to basket"',
    "address": (
        SIGN_IN + '2. Open /account/address\n3. Type "4410" into "Post code"\n'
        '4. Type "Elm 3" into "Street"\n5. Click "Save address"\n6. Open /account/address'
    ),
    "purchase": (
        SIGN_IN + '2. Open /wares/birch-bowl\n3. Click "Add to basket"\n4. Open /basket\n'
        '5. Click "Order now"\n6. Open /account/purchases'
    ),
}
ASK = '1. Open /huts/{hut}\n2. Type "{guest}" into "Your name"\n3. Type "{day}" into "Arrival"\n'
REFUGE = {
    "huts": "1. Open /",
    "hut": "1. Open /huts/adler",
    "full week": "1. Open /huts/adler?from=2026-07-01",
    "next week": '1. Open /huts/gams?from=2026-07-05\n2. Click "The week after"',
    "stay": ASK.format(hut="gams", guest="Nora", day="2026-07-20")
    + '4. Type "2" into "Nights"\n5. Type "3" into "Beds"\n6. Click "Ask"',
    "long member": ASK.format(hut="gams", guest="Otto", day="2026-08-01")
    + '4. Type "5" into "Nights"\n5. Tick "Club member"\n6. Click "Ask"',
    "waiting": ASK.format(hut="adler", guest="Pia", day="2026-07-04")
    + '4. Type "2" into "Beds"\n5. Click "Ask"',
    "after season": ASK.format(hut="murmel", guest="Quin", day="2026-09-19")
    + '4. Type "3" into "Nights"\n5. Click "Ask"',
    "past": ASK.format(hut="murmel", guest="Rosa", day="2026-06-01") + '4. Click "Ask"',
    "cancel late": ASK.format(hut="murmel", guest="Sven", day="2026-06-11")
    + '4. Click "Ask"\n5. Click "Cancel this stay"',
    "cancel early": ASK.format(hut="gams", guest="Tina", day="2026-08-20")
    + '4. Click "Ask"\n5. Click "Cancel this stay"',
    "no name": '1. Open /huts/gams\n2. Type "2026-07-20" into "Arrival"\n3. Click "Ask"',
}
CARD = (
    '1. Open /sign-in\n2. Type "{card}" into "Card number"\n3. Type "{pin}" into "PIN"\n'
    '4. Click "Sign in"\n'
)
VOLUNTEER = CARD.format(card="W-100", pin="1000")
BACK = VOLUNTEER + '5. Open /desk/return\n6. Type "{loan}" into "Loan number"\n'
WORKSHOP = {
    "welcome": "1. Open /",
    "second page": (
        '1. Open /tools\n2. Choose "Cheapest first" from "Order"\n3. Tick "Only what is here"\n'
        '4. Click "Search"\n5. Click "Next page"'
    ),
    "search": (
        '1. Open /tools?page=3\n2. Type "cuts" into "Find a tool"\n3. Choose "Wood" from "Kind"\n'
        '4. Click "Search"'
    ),
    "tool": "1. Open /tools/tile-cutter",
    "borrow": (
        CARD.format(card="w101", pin="1101")
        + '5. Open /tools/jigsaw\n6. Type "4" into "Days"\n7. Tick "With accessories"\n'
        '8. Click "Borrow"'
    ),
    "renewed": CARD.format(card="W-103", pin="1303") + '5. Click "Renew"',
    "debtor": CARD.format(card="W-104", pin="1404")
    + '5. Open /tools/moisture-meter\n6. Click "Borrow"',
    "queue": (
        CARD.format(card="W-101", pin="1101") + "5. Open /tools/chipper\n"
        '6. Click "Join the waiting list"\n7. Click "Cancel" next to "Tile cutter"'
    ),
    "late": (
        BACK.format(loan="L-0005") + '7. Choose "Dirty" from "Condition"\n'
        '8. Click "Take it back"\n9. Click "Take a payment"\n10. Type "14,5" into "Amount"\n'
        '11. Click "Take the money"'
    ),
    "broken": (
        BACK.format(loan="7") + '7. Choose "Damaged" from "Condition"\n8. Click "Take it back"'
    ),
    "handed on": (
        BACK.format(loan="l-10") + '7. Tick "All accessories are back"\n8. Click "Take it back"'
    ),
    "desk": VOLUNTEER + '5. Click "Clear the shelf"\n6. Click "Mended"',
}


@dataclass(frozen=True)
class Scenario:
    """A name and its steps; the expectation is put in for each mutant."""

    name: str
    steps: str

    def procedure(self, wanted: str) -> Procedure:
        """Return the procedure that expects this text at the end."""
        read = read_report(self.name, f'{self.steps}\n\nExpected: The page shows "x".\n')
        if isinstance(read, Missing):
            raise SystemExit(f"scenario {self.name}: {read.lacks}")
        expected = read.expectations[0].model_copy(update={"contains": wanted})
        return read.model_copy(update={"expectations": (expected,)})


def scenarios(of: dict[str, str]) -> list[Scenario]:
    """Return an application's scenarios."""
    return [Scenario(name, steps) for name, steps in of.items()]
