"""Audit all public layers, or those that are named."""

import argparse
import contextlib
import datetime
import importlib.metadata
import io
import json

import torch

from public_layers import LAYERS, RECORD
from public_layers.auditing import audit, compiled_torchvision
from public_layers.mending import lines, mend_all
from public_layers.page import PAGE, page
from public_layers.verdicts import VERDICTS


def entry(layer):
    """A layer's part of the record."""
    with contextlib.redirect_stdout(io.StringIO()):  # no table
        found = audit(layer)
    print(f"{layer.name}: {', '.join(found.failed) or 'nothing'} fails", flush=True)
    return {
        "name": layer.name,
        "package": layer.package,
        "declared": layer.words(),
        "rows": [[row.check, row.result, row.reason] for row in found.rows],
    }


def written(record):
    """The record as JSON, with a line for each layer."""
    layers = ",\n".join(json.dumps(one, ensure_ascii=False) for one in record["layers"])
    parts = [
        f'"layers": [\n{layers}\n]'
        if name == "layers"
        else f'"{name}": {json.dumps(part)}'
        for name, part in record.items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


def version(package):
    """The installed version, without a build's addition such as +cpu."""
    return importlib.metadata.version(package).partition("+")[0]


def main():
    """Audit, and write the record and the page unless layers are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help="of a layer, as on the page")
    names = parser.parse_args().name
    if unknown := {*names} - {layer.name for layer in LAYERS}:
        parser.error(f"no layer is called {', '.join(sorted(unknown))}")
    compiled_torchvision()
    torch.set_num_threads(1)
    if names:
        for layer in LAYERS:
            if layer.name in names:
                audit(layer)
        return
    packages = dict.fromkeys(layer.package for layer in LAYERS)
    record = {
        "date": datetime.date.today().isoformat(),
        "versions": {package: version(package) for package in packages},
        "layers": [entry(layer) for layer in LAYERS],
    }
    record["mended"] = mend_all()
    record["lines"] = [lines(verdict) for verdict in VERDICTS]
    RECORD.write_text(written(record), encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    main()
