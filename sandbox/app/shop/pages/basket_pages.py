"""The basket: filling, wrapping, ordering."""

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from shop.basket import (
    QuantityRefused,
    add_ware,
    load_basket,
    read_quantity,
    remove_ware,
    set_gift_wrap,
)
from shop.purchases import NothingToOrder, place_order
from shop.visit import basket_id, database

pages = Blueprint("basket", __name__)


@pages.get("/basket")
def show() -> str:
    return render_template("basket.html", basket=load_basket(database(), basket_id()))


@pages.post("/basket/lines")
def add() -> Response:
    try:
        quantity = read_quantity(request.form.get("quantity", ""))
        add_ware(database(), basket_id(), request.form.get("ware", ""), quantity)
    except QuantityRefused as refusal:
        flash(str(refusal))
    return redirect(url_for("basket.show"))


@pages.post("/basket/lines/<slug>/remove")
def remove(slug: str) -> Response:
    remove_ware(database(), basket_id(), slug)
    return redirect(url_for("basket.show"))


@pages.post("/basket/wrapping")
def wrap() -> Response:
    set_gift_wrap(database(), basket_id(), "gift_wrapped" in request.form)
    return redirect(url_for("basket.show"))


@pages.post("/basket/order")
def order() -> Response:
    if "shopper" not in session:
        return redirect(url_for("account.sign_in", then=url_for("basket.show")))
    held = load_basket(database(), basket_id())
    try:
        number = place_order(database(), session["shopper"], basket_id(), held)
    except NothingToOrder as refusal:
        flash(str(refusal))
        return redirect(url_for("basket.show"))
    flash(f"Thank you. Your purchase has the number {number}.")
    return redirect(url_for("account.purchases"))
