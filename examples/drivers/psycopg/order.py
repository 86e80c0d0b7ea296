"""An order and its voucher in one commit, with psycopg.

python order.py postgres://... ada@example.com
"""

import sys

import psycopg


def order(connection, customer):
    """Places an order for a customer, and returns the voucher. Writes nothing and returns None if none is left."""
    with connection.transaction():
        connection.execute("INSERT INTO orders (customer) VALUES (%s)", [customer])
        assign = connection.execute("SELECT outcome, item FROM storagebox.assign('vouchers', %s)", [customer])
        outcome, voucher = assign.fetchone()
        if outcome == "busy":
            raise RuntimeError("other orders hold the last vouchers; order again")
        if voucher is None:
            raise psycopg.Rollback
        connection.execute("UPDATE orders SET voucher = %s WHERE customer = %s", [voucher, customer])
        return voucher


if __name__ == "__main__":
    url, customer = sys.argv[1:]
    with psycopg.connect(url) as connection:
        print(order(connection, customer) or "")
