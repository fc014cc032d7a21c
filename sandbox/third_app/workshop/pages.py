"""The pages for visitors and members."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint, flash, g, redirect, render_template, request, session, url_for

from . import catalogue, fees, loans, members, reservations
from .database import get_db, today, transaction
from .days import OpeningDays, show_day, upcoming_closures
from .members import Refused

bp = Blueprint("pages", __name__)
View = Callable[..., Any]


def load_member() -> None:
    """Find out who is signed in, before each request."""
    member_id = session.get("member")
    g.member = members.by_id(get_db(), member_id) if member_id is not None else None


def shared_values() -> dict[str, Any]:
    return {"member": g.get("member")}


def members_only(view: View) -> View:
    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if g.member is None:
            flash("Please sign in first.")
            return redirect(url_for("pages.sign_in"))
        return view(*args, **kwargs)

    return guarded


def go(endpoint: str, **values: Any) -> Any:
    """Send the browser on after a form."""
    return redirect(url_for(endpoint, **values), 303)


@bp.get("/")
def welcome() -> str:
    db = get_db()
    day = today(db)
    opening = OpeningDays.load(db)
    return render_template(
        "welcome.html",
        day=day,
        is_open=opening.is_open(day),
        next_open=opening.after(day, 1),
        closures=upcoming_closures(db, day),
        newest=catalogue.newest(db),
    )


@bp.get("/tools")
def tools() -> str:
    db = get_db()
    search = catalogue.Search(
        words=request.args.get("q", "").strip(),
        kind=request.args.get("kind", ""),
        only_free="free" in request.args,
        order=request.args.get("order", "name"),
    )
    number = request.args.get("page", 1, type=int)
    return render_template(
        "tools.html",
        search=search,
        page=catalogue.find(db, search, number),
        kinds=catalogue.kinds(db),
        orders=catalogue.ORDERS,
    )


@bp.get("/tools/<slug>")
def tool(slug: str, error: str = "") -> str:
    db = get_db()
    found = catalogue.tool_by_slug(db, slug)
    held = reservations.active_of(db, g.member.id, found["id"]) if g.member else None
    waiting = [
        members.by_id(db, row["member_id"]) for row in reservations.waiting_list(db, found["id"])
    ]
    lent, damaged = loans.history(db, found["id"])
    return render_template(
        "tool.html",
        tool=found,
        held=held,
        can_borrow=found["free"] > 0 or (held is not None and held["state"] == "ready"),
        waiting=waiting,
        back_soonest=loans.back_soonest(db, found["id"]),
        lent=lent,
        damaged=damaged,
        days=request.form.get("days", str(found["loan_days"])),
        error=error,
    )


@bp.post("/tools/<slug>/borrow")
@members_only
def borrow(slug: str) -> Any:
    days = request.form.get("days", "").strip()
    try:
        if not days.isdecimal():
            raise Refused("Please give the number of days.")
        with transaction() as db:
            found = catalogue.tool_by_slug(db, slug)
            parts = "parts" in request.form and bool(found["accessories"])
            due = loans.borrow(db, g.member, found, int(days), parts, today(db))
    except Refused as refusal:
        return tool(slug, str(refusal)), 422
    flash(f"{found['name']} is yours until {show_day(due)}.")
    return go("pages.account")


@bp.post("/tools/<slug>/reserve")
@members_only
def reserve(slug: str) -> Any:
    with transaction() as db:
        found = catalogue.tool_by_slug(db, slug)
        done = reservations.reserve(db, g.member, found, today(db))
    flash(done)
    return go("pages.account")


@bp.get("/account")
@members_only
def account() -> str:
    db = get_db()
    day = today(db)
    own_loans = loans.of_member(db, g.member.id)
    return render_template(
        "account.html",
        is_current=g.member.is_current(day),
        loans=[loans.standing(db, loan, day) for loan in own_loans],
        left=max(0, g.member.loans_at_once - len(own_loans)),
        reservations=reservations.of_member(db, g.member.id),
        fees=fees.open_fees(db, g.member.id),
        debt=fees.debt(db, g.member.id),
    )


@bp.post("/loans/<int:loan_id>/renew")
@members_only
def renew(loan_id: int) -> Any:
    with transaction() as db:
        due = loans.renew(db, g.member, loan_id, today(db))
    flash(f"Renewed; the new due day is {show_day(due)}.")
    return go("pages.account")


@bp.post("/reservations/<int:reservation_id>/cancel")
@members_only
def cancel(reservation_id: int) -> Any:
    with transaction() as db:
        name = reservations.cancel(db, g.member, reservation_id, today(db))
    flash(f"Your reservation of {name} is cancelled.")
    return go("pages.account")


@bp.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> Any:
    card, error = request.form.get("card", ""), ""
    if request.method == "POST":
        try:
            member = members.sign_in(get_db(), card, request.form.get("pin", ""))
        except Refused as refusal:
            error = str(refusal)
        else:
            session.clear()
            session["member"] = member.id
            return go("desk.overview" if member.at_desk else "pages.account")
    return render_template("sign_in.html", card=card, error=error), 422 if error else 200


@bp.post("/sign-out")
def sign_out() -> Any:
    session.clear()
    flash("You are signed out.")
    return go("pages.welcome")
