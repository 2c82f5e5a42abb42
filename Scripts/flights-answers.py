#!/usr/bin/env python3
"""Answer questions about the flights directly from the CSV files, without Martlet.

    Scripts/flights-answers.py <folder of CSV files> [-o answers.json]

Writes {question: answer} as JSON. A flight is identified by its row: the first line below the header of flights.csv
is 1. A missing value is NA in the files and None here. A flight links to its airline, plane, airports and weather by
carrier, tailnum, origin, dest, and (origin, time_hour). A link whose target is not in the files is also None.
"""
import csv
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

ANSWERS = {}


def question(name):
    """Register a function that computes the answer to a question from the data."""

    def register(function):
        ANSWERS[name] = function
        return function

    return register


def value(text):
    if text == "NA":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


TEXT_COLUMNS = {"carrier", "tailnum", "origin", "dest", "faa", "name", "time_hour", "model", "manufacturer"}


def table(folder, name):
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        {key: (None if text == "NA" else text) if key in TEXT_COLUMNS else value(text) for key, text in row.items()}
        for row in rows
    ]


class Data:
    def __init__(self, folder):
        self.airlines = table(folder, "airlines")
        self.airports = table(folder, "airports")
        self.planes = table(folder, "planes")
        self.weather = table(folder, "weather")
        self.flights = table(folder, "flights")
        airline = {row["carrier"]: row for row in self.airlines}
        airport = {row["faa"]: row for row in self.airports}
        plane = {row["tailnum"]: row for row in self.planes}
        weather = {(row["origin"], row["time_hour"]): row for row in self.weather}
        for number, flight in enumerate(self.flights, 1):
            flight["id"] = number
            flight["airline"] = airline.get(flight["carrier"])
            flight["plane"] = plane.get(flight["tailnum"])
            flight["from"] = airport.get(flight["origin"])
            flight["to"] = airport.get(flight["dest"])
            flight["weather"] = weather.get((flight["origin"], flight["time_hour"]))

    def count(self, test):
        return sum(1 for flight in self.flights if test(flight))


def known(rows, column):
    return [row[column] for row in rows if row[column] is not None]


def mean(values):
    return sum(values) / len(values) if values else None


def over(row, column, limit):
    """Return whether a value exceeds the limit. A missing value does not."""
    return row[column] is not None and row[column] > limit


# --- counts ----------------------------------------------------------------------------------------------------


@question("count of every table")
def _(d):
    return {
        "airlines": len(d.airlines),
        "airports": len(d.airports),
        "flights": len(d.flights),
        "planes": len(d.planes),
        "weather": len(d.weather),
    }


@question("flights that never departed")
def _(d):
    return d.count(lambda f: f["dep_time"] is None)


@question("flights that departed and whose arrival delay is unknown")
def _(d):
    return d.count(lambda f: f["dep_time"] is not None and f["arr_delay"] is None)


@question("flights that left more than an hour late")
def _(d):
    return d.count(lambda f: over(f, "dep_delay", 60))


@question("flights that left late and arrived early")
def _(d):
    return d.count(lambda f: over(f, "dep_delay", 0) and f["arr_delay"] is not None and f["arr_delay"] < 0)


@question("flights of JetBlue from JFK or of United from EWR")
def _(d):
    pairs = {("B6", "JFK"), ("UA", "EWR")}
    return d.count(lambda f: (f["carrier"], f["origin"]) in pairs)


@question("flights of at least 500 and less than 1000 miles")
def _(d):
    return d.count(lambda f: 500 <= f["distance"] < 1000)


@question("flights to Los Angeles, San Francisco or Seattle")
def _(d):
    return d.count(lambda f: f["dest"] in ("LAX", "SFO", "SEA"))


@question("flights not of the three largest airlines")
def _(d):
    return d.count(lambda f: f["carrier"] not in ("UA", "B6", "EV"))


@question("flights per month")
def _(d):
    return {str(month): n for month, n in sorted(Counter(f["month"] for f in d.flights).items())}


@question("flights scheduled from 2013-12-30T00:00Z to before 2013-12-31T00:00Z")
def _(d):
    return d.count(lambda f: "2013-12-30T00:00:00Z" <= f["time_hour"] < "2013-12-31T00:00:00Z")


# --- sums, means, extremes -------------------------------------------------------------------------------------


@question("sum of departure delays in minutes")
def _(d):
    return sum(known(d.flights, "dep_delay"))


@question("mean departure delay")
def _(d):
    return mean(known(d.flights, "dep_delay"))


@question("least and greatest arrival delay")
def _(d):
    delays = known(d.flights, "arr_delay")
    return [min(delays), max(delays)]


@question("mean air time of flights to Honolulu")
def _(d):
    return mean(known([f for f in d.flights if f["dest"] == "HNL"], "air_time"))


@question("miles flown in all")
def _(d):
    return sum(f["distance"] for f in d.flights)


@question("mean departure delay per origin")
def _(d):
    return {o: mean(known([f for f in d.flights if f["origin"] == o], "dep_delay")) for o in ("EWR", "JFK", "LGA")}


@question("mean arrival delay per airline")
def _(d):
    return {
        a["name"]: mean(known([f for f in d.flights if f["carrier"] == a["carrier"]], "arr_delay"))
        for a in d.airlines
    }


@question("mean temperature per origin")
def _(d):
    return {o: mean(known([w for w in d.weather if w["origin"] == o], "temp")) for o in ("EWR", "JFK", "LGA")}


@question("median departure delay (lower of two)")
def _(d):
    delays = sorted(known(d.flights, "dep_delay"))
    return delays[(len(delays) - 1) // 2]


# --- sorts -----------------------------------------------------------------------------------------------------


@question("flight with the longest departure delay, ties by row")
def _(d):
    late = [f for f in d.flights if f["dep_delay"] is not None]
    worst = min(late, key=lambda f: (-f["dep_delay"], f["id"]))
    return [worst["id"], worst["carrier"], worst["flight"], worst["dep_delay"]]


@question("first ten by departure delay, descending, then row")
def _(d):
    late = [f for f in d.flights if f["dep_delay"] is not None]
    return [f["id"] for f in sorted(late, key=lambda f: (-f["dep_delay"], f["id"]))[:10]]


@question("last five by distance, then row")
def _(d):
    return [f["id"] for f in sorted(d.flights, key=lambda f: (f["distance"], f["id"]))[-5:]]


@question("first five of Delta by destination name, then row")
def _(d):
    delta = [f for f in d.flights if f["carrier"] == "DL" and f["to"]]
    return [f["id"] for f in sorted(delta, key=lambda f: (f["to"]["name"].encode(), f["id"]))[:5]]


@question("ten highest airports")
def _(d):
    return [a["faa"] for a in sorted(d.airports, key=lambda a: (-a["alt"], a["faa"]))[:10]]


# --- links -----------------------------------------------------------------------------------------------------


@question("flights per airline name")
def _(d):
    return dict(Counter(f["airline"]["name"] for f in d.flights if f["airline"]))


@question("ten busiest destinations")
def _(d):
    counts = Counter(f["dest"] for f in d.flights if f["to"])
    return [[code, n] for code, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]]


@question("flights in a Boeing")
def _(d):
    return d.count(lambda f: f["plane"] and f["plane"]["manufacturer"] == "BOEING")


@question("flights in a plane built before 2000")
def _(d):
    return d.count(lambda f: f["plane"] and f["plane"]["year"] is not None and f["plane"]["year"] < 2000)


@question("flights in a plane whose maker begins with AIRBUS")
def _(d):
    return d.count(lambda f: f["plane"] and f["plane"]["manufacturer"].startswith("AIRBUS"))


@question("flights without tail number")
def _(d):
    return d.count(lambda f: f["tailnum"] is None)


@question("flights whose tail number names no plane")
def _(d):
    return d.count(lambda f: f["tailnum"] is not None and f["plane"] is None)


@question("flights to a destination that is not in the files")
def _(d):
    return d.count(lambda f: f["to"] is None)


@question("flights to airports above 5000 feet")
def _(d):
    return d.count(lambda f: f["to"] and f["to"]["alt"] > 5000)


@question("flights to a place whose name contains 'International' or 'Intl'")
def _(d):
    return d.count(lambda f: f["to"] and any(word in f["to"]["name"] for word in ("International", "Intl")))


@question("distinct planes per airline")
def _(d):
    planes = defaultdict(set)
    for flight in d.flights:
        if flight["plane"]:
            planes[flight["airline"]["name"]].add(flight["tailnum"])
    return {name: len(tails) for name, tails in planes.items()}


@question("airports without flights to them")
def _(d):
    return len({a["faa"] for a in d.airports} - {f["dest"] for f in d.flights})


@question("plane that flew most")
def _(d):
    counts = Counter(f["tailnum"] for f in d.flights if f["plane"])
    return list(min(counts.items(), key=lambda item: (-item[1], item[0])))


@question("airlines with at least 20 flights more than three hours late")
def _(d):
    counts = Counter(f["carrier"] for f in d.flights if over(f, "dep_delay", 180))
    return sorted(code for code, n in counts.items() if n >= 20)


# --- weather ---------------------------------------------------------------------------------------------------


@question("flights without weather")
def _(d):
    return d.count(lambda f: f["weather"] is None)


@question("flights in gusts over 30 miles an hour")
def _(d):
    return d.count(lambda f: f["weather"] and over(f["weather"], "wind_gust", 30))


@question("mean departure delay in rain and without")
def _(d):
    there = [f for f in d.flights if f["weather"]]
    rain = [f for f in there if f["weather"]["precip"] > 0]
    dry = [f for f in there if f["weather"]["precip"] == 0]
    return [mean(known(rain, "dep_delay")), mean(known(dry, "dep_delay"))]


@question("strongest gust and where")
def _(d):
    gusts = [w for w in d.weather if w["wind_gust"] is not None]
    worst = min(gusts, key=lambda w: (-w["wind_gust"], w["origin"], w["time_hour"]))
    return [worst["wind_gust"], worst["origin"], worst["time_hour"]]


@question("flights that never departed below freezing")
def _(d):
    return d.count(lambda f: f["dep_time"] is None and f["weather"] and f["weather"]["temp"] is not None
                   and f["weather"]["temp"] < 32)


# --- text ------------------------------------------------------------------------------------------------------


@question("airlines whose name begins with 'A'")
def _(d):
    return sorted(a["name"] for a in d.airlines if a["name"].startswith("A"))


@question("airports whose name contains 'intl' in any case")
def _(d):
    return sum("intl" in a["name"].lower() for a in d.airports)


@question("airports whose name ends with 'Regional Airport'")
def _(d):
    return sum(a["name"].endswith("Regional Airport") for a in d.airports)


@question("planes whose tail number is like N?0*AA")
def _(d):
    return sum(len(t) >= 5 and t[0] == "N" and t[2] == "0" and t[-2:] == "AA" for t in known(d.planes, "tailnum"))


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    data = Data(Path(arguments[0]))
    text = json.dumps({name: answer(data) for name, answer in ANSWERS.items()}, indent=2, ensure_ascii=False) + "\n"
    if "-o" in arguments:
        Path(arguments[arguments.index("-o") + 1]).write_text(text, encoding="utf-8")
        print(f"{len(ANSWERS)} answers", file=sys.stderr)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
