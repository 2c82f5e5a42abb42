#!/usr/bin/env python3
"""Extract the committed sample of flights from the full CSV files.

    Scripts/make-flights-sample.py <folder of the full data> <folder to write>

The sample contains all flights of the days in DAYS, the airlines, airports and planes of these flights, and the weather
of these days. The rows are unchanged and keep their order, so missing values and dangling references are kept.
"""
import csv
import sys
from pathlib import Path

# Two days of a snowstorm, one summer day, and the last two days of the data.
DAYS = {(2013, 2, 8), (2013, 2, 9), (2013, 7, 10), (2013, 12, 30), (2013, 12, 31)}


def read(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader)
        return header, [dict(zip(header, row)) for row in reader]


def write(folder, name, header, rows):
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([row[column] for column in header] for row in rows)
    print(f"{name}: {len(rows)} rows")


def day(row):
    return int(row["year"]), int(row["month"]), int(row["day"])


def main(source, target):
    target.mkdir(parents=True, exist_ok=True)
    header, flights = read(source, "flights.csv")
    flights = [row for row in flights if day(row) in DAYS]
    write(target, "flights.csv", header, flights)

    carriers = {row["carrier"] for row in flights}
    tails = {row["tailnum"] for row in flights}
    places = {row["origin"] for row in flights} | {row["dest"] for row in flights}
    for name, key, named in [
        ("airlines.csv", "carrier", carriers),
        ("airports.csv", "faa", places),
        ("planes.csv", "tailnum", tails),
    ]:
        header, rows = read(source, name)
        write(target, name, header, [row for row in rows if row[key] in named])

    header, weather = read(source, "weather.csv")
    write(target, "weather.csv", header, [row for row in weather if day(row) in DAYS])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
