"""Runs article 1's published package: many threads take one item per id. Counts the requests that they send.

python package.py ITEMS RECORDS THREADS: prints `ready`, then reads lines `SLICE CALLS`. Makes the calls of a line and
prints the number of their requests, or the reason why a call failed. Each thread has its own client, as boto3 requires.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import local

from storagebox import Deduplicator, DeduplicationDynamoDbRepository, ItemBankDynamoDbRepository

requests = count()
thread = local()


def counted(request, **_):
    next(requests)


def opened(items, records):
    repositories = ItemBankDynamoDbRepository(items), DeduplicationDynamoDbRepository(records)
    for repository in repositories:
        for client in (repository.client, repository.table.meta.client):
            client.meta.events.register("before-send.dynamodb", counted)
    return Deduplicator(*repositories)


def take(id):
    item = thread.desk.fetch_item_for_deduplication_id(id)
    if item is None:
        raise LookupError(f"{id} was given nothing")


def sent():
    """Returns the number of requests so far. Reading the counter adds 1 to it."""
    return next(requests)


def main(items, records, threads):
    desks = [opened(items, records) for _ in range(int(threads))]

    def begin():
        thread.desk = desks.pop()

    with ThreadPoolExecutor(int(threads), initializer=begin) as pool:
        print("ready", flush=True)
        for line in sys.stdin:
            number, calls = line.split()
            before = sent()
            try:
                for _ in pool.map(take, (f"{number:0>16}-{call:019}" for call in range(int(calls)))):
                    pass
                print(sent() - before - 1, flush=True)
            except Exception as error:
                print(repr(error), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
