"""What the report and the demo's page share: HTML that needs no other file and no network."""
import base64
from html import escape

STYLE = """body { font: 16px/1.45 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 2px 10px; border-bottom: 1px solid #ddd; text-align: left; } td.number { text-align: right; }
img { max-width: 100%; } .notes { color: #666; font-size: 14px; }"""


def page(title, *parts):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style></head>\n'
            f"<body><h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n")


def table(heads, rows, shown=str):
    """Strings and numbers; shown(number) is how one is printed."""
    def cell(value):
        return f'<td class="number">{shown(value)}</td>' if isinstance(value, (int, float)) else f"<td>{escape(str(value))}</td>"

    lines = ["<tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"]
    lines += ["<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows]
    return '<div class="wide"><table>\n' + "\n".join(lines) + "\n</table></div>"


def picture(path, text):
    """An image with its bytes; nothing where there is none."""
    if not path.is_file():
        return ""
    return f'<img alt="{escape(text)}" src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'
