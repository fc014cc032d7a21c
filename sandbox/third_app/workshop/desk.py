"""The desk's own pages: what is out, tools that come back, payments, the hold shelf."""

import re
from typing import Any

from flask import Blueprint, abort, flash, g, render_template, request

from . import fees, loans, members, reservations
from .catalogue import tool_by_slug
from .database import get_db, today, transaction
from .members import Refused
from .pages import go, members_only

bp = Blueprint("desk", __name__, url_prefix="/desk")
LOAN_NUMBER = re.compile(r"(?:L-?)?0*(\d{1,6})", re.IGNORECASE)


@bp.before_request
@members_only
def volunteers_only() -> None:
    if not g.member.at_desk:
        abort(404)


@bp.get("")
def overview() -> str:
    db = get_db()
    day = today(db)
    standings = [loans.standing(db, loan, day) for loan in loans.out(db)]
    late = [one for one in standings if one.loan["due_on"] < day.isoformat()]
    return render_template(
        "desk.html",
        day=day,
        late=late,
        due_today=[one for one in standings if one.loan["due_on"] == day.isoformat()],
        later=sum(1 for one in standings if one.loan["due_on"] > day.isoformat()),
        expected=sum(one.fee_so_far for one in late),
        shelf=reservations.hold_shelf(db),
        in_repair=db.execute("SELECT * FROM tools WHERE in_repair > 0 ORDER BY name").fetchall(),
    )


@bp.route("/return", methods=["GET", "POST"])
def take_back() -> Any:
    error = ""
    if request.method == "POST":
        try:
            loan_id = _loan_number(request.form.get("loan", ""))
            with transaction() as db:
                condition = request.form.get("condition", "")
                loans.take_back(db, loan_id, condition, "parts" in request.form, today(db))
            return go("desk.receipt", loan_id=loan_id)
        except Refused as refusal:
            error = str(refusal)
    form = render_template(
        "return.html",
        number=request.values.get("loan", ""),
        conditions=loans.CONDITIONS,
        error=error,
    )
    return form, 422 if error else 200


def _loan_number(text: str) -> int:
    """Read a number such as `L-0012`, `l12` or `12`. Raises Refused."""
    match = LOAN_NUMBER.fullmatch(text.strip())
    if match is None:
        raise Refused("Please give the number of the loan, such as L-0012.")
    return int(match[1])


@bp.get("/loans/<int:loan_id>")
def receipt(loan_id: int) -> str:
    db = get_db()
    loan = loans.by_id(db, loan_id)
    if loan is None or loan["returned_on"] is None:
        abort(404)
    charged = db.execute("SELECT * FROM fees WHERE loan_id = ? ORDER BY id", (loan_id,)).fetchall()
    held = [one for one in reservations.hold_shelf(db) if one["tool_id"] == loan["tool_id"]]
    return render_template(
        "receipt.html",
        loan=loan,
        fees=charged,
        total=sum(fee["cents"] for fee in charged),
        debt=fees.debt(db, loan["member_id"]),
        held=held[-1] if held else None,
    )


@bp.route("/payments", methods=["GET", "POST"])
def payments() -> Any:
    card = request.values.get("card", "")
    error, payer = "", None
    try:
        if card:
            payer = members.by_card(get_db(), card)
        if request.method == "POST":
            if payer is None:
                raise Refused("Please give the number of the card.")
            _take_payment(payer, request.form.get("amount", ""))
            return go("desk.payments", card=payer.card)
    except Refused as refusal:
        error = str(refusal)
    page = render_template(
        "payments.html",
        card=card,
        amount=request.form.get("amount", ""),
        payer=payer,
        fees=fees.open_fees(get_db(), payer.id) if payer else [],
        debt=fees.debt(get_db(), payer.id) if payer else 0,
        error=error,
    )
    return page, 422 if error else 200


def _take_payment(payer: members.Member, amount: str) -> None:
    """Take the money and say what is given back. Raises Refused."""
    cents = fees.read_money(amount)
    if not cents:
        raise Refused("Please give the amount, such as 4.50.")
    with transaction() as db:
        change = fees.pay(db, payer.id, cents)
    flash(f"{fees.show_money(cents - change)} paid by {payer.name}.")
    if change:
        flash(f"Give back {fees.show_money(change)}.")


@bp.post("/shelf/clear")
def clear_shelf() -> Any:
    with transaction() as db:
        count = reservations.clear_shelf(db, today(db))
    flash(f"Holds that ended: {count}.")
    return go("desk.overview")


@bp.post("/mended/<slug>")
def mended(slug: str) -> Any:
    with transaction() as db:
        tool = tool_by_slug(db, slug)
        loans.mend(db, tool, today(db))
    flash(f"{tool['name']} is back in use.")
    return go("desk.overview")
