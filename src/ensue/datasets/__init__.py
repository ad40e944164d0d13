"""Small data sets that come with the package, each with a rule file, so that every example can be run as it stands.

A function gives the events of a data set as an Arrow table, `rules` its rule file:

>>> import ensue
>>> program = ensue.compile(rules("logins"))
>>> [found["user"] for found in program.detect(logins()).to_pylist() if found["type"] == "break_in"]
['otto']

Events are made at each call, from a seed: they are the same every time, on every platform. A row has the attributes of
its type and null in all other columns. `docs/datasets` tells the story of each data set.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensue.datasets.catalogue import DATASETS, FOLDER, Dataset

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Dataset",
    "dataset",
    "events",
    "hospital",
    "json_lines",
    "logins",
    "machines",
    "names",
    "orders",
    "path",
    "pizza",
    "rules",
    "save",
    "supply_chain",
    "ticks",
]


def names() -> tuple[str, ...]:
    """The names of all data sets.

    >>> names()
    ('orders', 'logins', 'machines', 'ticks', 'pizza', 'hospital', 'supply_chain')
    """
    return tuple(DATASETS)


def orders() -> pa.Table:
    """Orders and parcels of a shop over two days.

    `order(id, product, qty)`: an order of `qty` pieces; `shipped(id, tracking)`: its parcel left.

    >>> orders().num_rows
    157
    """
    return events("orders")


def logins() -> pa.Table:
    """Sign-ins of 40 people on one day.

    `login(user, ip, country)`: somebody got in, from an address in a country; `failed(user, ip, country)`: somebody
    gave a wrong password.

    >>> logins().column_names
    ['type', 'time', 'user', 'ip', 'country']
    """
    return events("logins")


def machines() -> pa.Table:
    """Six machines of a plant over two days.

    `reading(machine, celsius)`: a temperature, each ten minutes; `maintenance(machine, technician)`: an interval in
    which somebody works on the machine; `failure(machine, code)`: the machine stops.

    >>> machines().column_names
    ['type', 'start', 'end', 'machine', 'celsius', 'technician', 'code']
    """
    return events("machines")


def ticks() -> pa.Table:
    """Prices of five shares on one trading day.

    `tick(share, price, volume)`: the price in a minute, and how many shares were traded in it.

    >>> ticks().num_rows
    1950
    """
    return events("ticks")


def pizza() -> pa.Table:
    """A pizza service on a Friday evening, after Walzer, Breddin and Groch (2008).

    `order_arrival(order, customer, street)`: an order came in; `customer_check(customer, valid)`: the address exists,
    or not; `in_oven(order)`: baking begins; `baking(order, oven)`: the interval in which it is baked; `delivery(order,
    driver)`: it is at the customer's door; `oven_maintenance(oven, reason)`: an interval in which an oven is down.

    >>> pizza().column("type").value_counts().to_pylist()[0]
    {'values': 'order_arrival', 'counts': 150}
    """
    return events("pizza")


def hospital() -> pa.Table:
    """An emergency department and a clinic over 24 hours, after Ray and Huang.

    `admit(patient, urgency)`: a patient comes, urgency 1 cannot wait and 5 can; `doctor_enters(doctor)`: a doctor comes
    into the emergency room; `examined(patient, doctor)`; `temperature(patient, celsius)`; `medication(patient, drug)`;
    `check_in(visitor)`: a visitor of the clinic; `nurse_free(nurse)`: a nurse can see the next one.

    >>> sorted(set(hospital().column("type").to_pylist()))[:3]
    ['admit', 'check_in', 'doctor_enters']
    """
    return events("hospital")


def supply_chain() -> pa.Table:
    """Pallets on their way from harbours to shops over ten days, after Anicic, Rudolph, Fodor and Stojanovic.

    `scan(pallet, site)`: a pallet is seen at a site. The rule file says which sites are linked.

    >>> len(set(supply_chain().column("pallet").to_pylist()))
    180
    """
    return events("supply_chain")


def events(name: str) -> pa.Table:
    """The events of a data set as an Arrow table in order: `type`, `time` (or `start` and `end`), then attributes.

    >>> str(events("pizza").schema.field("start").type)
    'timestamp[us, tz=UTC]'
    """
    import pyarrow as pa

    rows = dataset(name).rows()
    columns = dict.fromkeys(column for row in rows for column in row)
    moment = pa.timestamp("us", "UTC")
    return pa.table(
        {
            column: pa.array([row.get(column) for row in rows], moment if column in ("time", "start", "end") else None)
            for column in columns
        }
    )


def rules(name: str) -> Path:
    """The rule file of a data set; its tests are in it.

    >>> rules("ticks").name
    'ticks.ensue'
    """
    return dataset(name).rules


def dataset(name: str) -> Dataset:
    """The entry of a data set: title, story, rule file, events.

    >>> dataset("pizza").title
    'A pizza service'
    >>> dataset("pasta")
    Traceback (most recent call last):
    ValueError: There is no data set 'pasta'; there are orders, logins, machines, ticks, pizza, hospital, supply_chain.
    """
    if name not in DATASETS:
        raise ValueError(f"There is no data set {name!r}; there are {', '.join(DATASETS)}.")
    return DATASETS[name]


def json_lines(name: str) -> str:
    """The events of a data set as JSON lines, each with the attributes of its type.

    >>> print(json_lines("ticks").splitlines()[0])
    {"type": "tick", "time": "2026-03-04T09:30:02Z", "share": "ECHO", "price": 229.66, "volume": 371}
    """
    import json

    def plain(value: Any) -> Any:
        return f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else value

    rows = ({column: plain(value) for column, value in row.items()} for row in dataset(name).rows())
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def save(name: str, folder: str | Path = ".") -> tuple[Path, Path]:
    """Writes the rules and the events of a data set into a folder, to be changed and run there.

    A file that is there already is kept, and is an error.
    """
    target = Path(folder)
    texts = {
        target / f"{name}.ensue": rules(name).read_text(encoding="utf-8"),
        target / f"{name}.jsonl": json_lines(name),
    }
    for file in texts:
        if file.exists():
            raise FileExistsError(f"{file} is there already; move it away, or name another folder.")
    target.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
    rule_file, event_file = texts
    return rule_file, event_file


def path(file: str) -> Path:
    """Path of a file of the package: the rule file of each data set, and the events of orders.

    >>> path("orders.jsonl").exists()
    True
    >>> path("order.ensue")
    Traceback (most recent call last):
    ValueError: There is no file 'order.ensue'; there are orders.ensue, …, supply_chain.ensue and orders.jsonl.
    """
    if file not in (*(f"{name}.ensue" for name in DATASETS), "orders.jsonl"):
        raise ValueError(f"There is no file {file!r}; there are orders.ensue, …, supply_chain.ensue and orders.jsonl.")
    return FOLDER / file
