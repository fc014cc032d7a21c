"""Signing in and out, the address, and earlier purchases."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from shop.purchases import list_purchases
from shop.shoppers import load_address, may_sign_in, read_address, save_address
from shop.visit import database

pages = Blueprint("account", __name__, url_prefix="/account")


def signed_in(view: Callable[..., Any]) -> Callable[..., Any]:
    """Send a visitor who is not signed in to the sign-in page first, and back afterwards."""

    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if "shopper" not in session:
            return redirect(url_for("account.sign_in", then=request.path))
        return view(*args, **kwargs)

    return guarded


@pages.get("/sign-in")
def sign_in() -> str:
    return render_template("sign_in.html", then=request.args.get("then", ""))


@pages.post("/sign-in")
def enter() -> Any:
    name = request.form.get("username", "").strip()
    then = request.form.get("then", "")
    if not may_sign_in(database(), name, request.form.get("password", "")):
        flash("That name and password do not belong together.")
        return render_template("sign_in.html", then=then), 401
    session["shopper"] = name
    inside = then.startswith("/") and not then.startswith(("//", "/\\"))
    return redirect(then if inside else url_for("account.address"))


@pages.post("/sign-out")
def leave() -> Response:
    session.pop("shopper", None)
    return redirect(url_for("wares.shelf"))


@pages.get("/address")
@signed_in
def address() -> str:
    return render_template("address.html", address=load_address(database(), session["shopper"]))


@pages.post("/address")
@signed_in
def keep_address() -> Response:
    save_address(database(), session["shopper"], read_address(request.form))
    flash("Address saved.")
    return redirect(url_for("account.address"))


@pages.get("/purchases")
@signed_in
def purchases() -> str:
    found = list_purchases(database(), session["shopper"])
    return render_template("purchases.html", purchases=found)
