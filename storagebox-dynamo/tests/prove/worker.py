"""Takes an item for each id of a list with the unchanged package of article 1, and writes the outcomes to a file.

python worker.py ITEMS RECORDS IDS TOLD: two tables, a file of ids, and a file of lines `id<TAB>item`, after which a
restarted worker continues. An id without an item has the item `-`.
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
    """Retries, because another worker may hold an item and put it back."""
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
