"""Takes an item for each id of a list with the package of article 1 as it is, and writes down what it was told.

python worker.py ITEMS RECORDS IDS TOLD: two tables, a file of ids, and one of lines `id<TAB>item`, which a worker that is
started again goes on with. An id that is told of no item has the item `-`.
"""

import os
import sys
import time

from botocore.exceptions import BotoCoreError, ClientError
from storagebox import Deduplicator, DeduplicationDynamoDbRepository, ItemBankDynamoDbRepository

TRIES = 100
PAUSE = 0.05


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def told(desk, id):
    """Others may have an item in their hands and put it back, so that nothing is final at once."""
    for _ in range(TRIES):
        try:
            item = desk.fetch_item_for_deduplication_id(id)
            if item is not None:
                return item
        # At the end of its table, the package looks for a key that is not there.
        except (ClientError, BotoCoreError, KeyError):
            pass
        time.sleep(PAUSE)
    return "-"


def main(items, records, ids, told_before):
    desk = Deduplicator(ItemBankDynamoDbRepository(items), DeduplicationDynamoDbRepository(records))
    done = {line.split("\t")[0] for line in lines(told_before)}
    with open(told_before, "a", encoding="utf-8") as out:
        for id in lines(ids):
            if id not in done:
                out.write(f"{id}\t{told(desk, id)}\n")
                out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
