"""Writes a Claude Desktop bundle (.mcpb), the same bytes from the same program: `bundle.py PROGRAM OUT`.

The npm package that packs bundles writes the time of day into them; tests/packaging opens what this writes with it.
"""

import pathlib
import sys
import zipfile

MANIFEST = pathlib.Path(__file__).resolve().parent.parent / "mcpb" / "manifest.json"
# The earliest moment that a zip file can name.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def main(program: str, out: str) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, source, mode in [
            ("manifest.json", MANIFEST, 0o100644),
            ("server/bursar", pathlib.Path(program), 0o100755),
        ]:
            entry = zipfile.ZipInfo(name, NO_TIME)
            entry.create_system = 3
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(entry, source.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: bundle.py PROGRAM OUT")
    main(sys.argv[1], sys.argv[2])
