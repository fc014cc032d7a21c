CREATE TABLE IF NOT EXISTS ware (
    slug TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    price INTEGER NOT NULL CHECK (price > 0)
);

CREATE TABLE IF NOT EXISTS shopper (
    name TEXT PRIMARY KEY,
    password_hash TEXT NOT NULL,
    street TEXT NOT NULL DEFAULT '',
    city TEXT NOT NULL DEFAULT '',
    post_code TEXT NOT NULL DEFAULT '',
    phone TEXT NOT NULL DEFAULT ''
);

CREATE TABLE IF NOT EXISTS basket (
    id TEXT PRIMARY KEY,
    gift_wrapped INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS basket_line (
    basket TEXT NOT NULL REFERENCES basket (id) ON DELETE CASCADE,
    ware TEXT NOT NULL REFERENCES ware (slug),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (basket, ware)
);

CREATE TABLE IF NOT EXISTS purchase (
    number INTEGER PRIMARY KEY,
    shopper TEXT NOT NULL REFERENCES shopper (name),
    total INTEGER NOT NULL,
    contents TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS depot_day (
    depot TEXT NOT NULL,
    ware TEXT NOT NULL REFERENCES ware (slug),
    days INTEGER NOT NULL,
    PRIMARY KEY (depot, ware)
);

CREATE TABLE IF NOT EXISTS depot_turn (
    taken INTEGER NOT NULL
);
