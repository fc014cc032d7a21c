"""The list of wares and the page of each."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from shop.depots import ask_days
from shop.paging import NoSuchPage, cut_page
from shop.visit import database
from shop.wares import get_ware, list_wares

pages = Blueprint("wares", __name__)


@pages.get("/")
def front() -> Response:
    return redirect(url_for("wares.shelf"))


@pages.get("/wares")
def shelf() -> str:
    wanted = request.args.get("find", "").strip()
    number = request.args.get("page", "1")
    if not number.isdecimal():
        raise NoSuchPage(number)
    page = cut_page(list_wares(database(), wanted), int(number))
    return render_template("shelf.html", page=page, wanted=wanted)


@pages.get("/wares/<slug>")
def ware(slug: str) -> str:
    found = get_ware(database(), slug)
    return render_template("ware.html", ware=found, days=ask_days(database(), slug))
