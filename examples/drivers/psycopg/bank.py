"""A client of the SQL interface of banks. It reads one call per input line, and makes several calls at a time.

python bank.py postgres://... SCHEMA

A line is `NUMBER CALL BANK CLAIM HOLD`: the texts in hexadecimal, the hold in microseconds or `-`. The output line is
`NUMBER OUTCOME ITEM REMAINING`, or `NUMBER !SQLSTATE`.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg

COLUMNS = "outcome, item, (extract(epoch FROM remaining) * 1000000)::bigint"
CALLS = {
    "assign": f"SELECT {COLUMNS} FROM {{schema}}.assign(%(bank)s, %(claim)s, %(hold)s * interval '1 microsecond')",
    "confirm": "SELECT outcome, item, NULL FROM {schema}.confirm(%(bank)s, %(claim)s)",
    "release": "SELECT outcome, NULL, NULL FROM {schema}.release(%(bank)s, %(claim)s)",
    "get_claim": f"SELECT {COLUMNS} FROM {{schema}}.get_claim(%(bank)s, %(claim)s)",
}

own = threading.local()
output = threading.Lock()


def answer(url, schema, line):
    """Makes one call in a separate transaction, and prints its outcome."""
    number, call, bank, claim, hold = line.split()
    arguments = {
        "bank": bytes.fromhex(bank).decode(),
        "claim": bytes.fromhex(claim).decode(),
        "hold": None if hold == "-" else int(hold),
    }
    try:
        if not hasattr(own, "connection"):
            own.connection = psycopg.connect(url)
        with own.connection.transaction():
            outcome, item, remaining = own.connection.execute(CALLS[call].format(schema=schema), arguments).fetchone()
        said = f"{outcome} {item.encode().hex() if item else '-'} {'-' if remaining is None else remaining}"
    except psycopg.Error as error:
        said = f"!{error.sqlstate}"
    with output:
        print(number, said, flush=True)


if __name__ == "__main__":
    url, schema = sys.argv[1:]
    with ThreadPoolExecutor(8) as calls:
        for line in sys.stdin:
            calls.submit(answer, url, schema, line)
