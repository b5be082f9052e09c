"""BUILD/bench/report.html: the tables and plots of all questions that were answered in BUILD, in one file."""
from html import escape

import web
from tables import notes_of, read_table, shown

NOTES = ("date", "machine", "device", "load by other programs", "PETSc", "commit")


def write(folder, names):
    """Of those of the questions that have a table in the folder."""
    summary, sections = [], []
    for name in names:
        path = folder / f"{name}.csv"
        if path.is_file():
            (question, *lines), rows = read_table(path)
            notes = notes_of(lines)
            summary.append([name, *(notes.get(key, "") for key in NOTES)])
            sections.append(section(name, question, lines, rows, path.with_suffix(".png")))
    path = folder / "report.html"
    contents = web.table(("question", *NOTES), summary)
    for name, *_ in summary:
        contents = contents.replace(f"<td>{name}</td>", f'<td><a href="#{name}">{name}</a></td>')
    path.write_text(web.page("Benchmarks of petscrrb", contents, *sections), encoding="utf-8")
    return path


def section(name, question, lines, rows, plot):
    return "\n".join([f'<h2 id="{name}">{name}</h2>', f"<p>{escape(question)}</p>", web.picture(plot, question),
                      web.table([key.replace("_", " ") for key in rows[0]], (row.values() for row in rows), shown),
                      f'<p class="notes">{escape("; ".join(lines))}</p>'])
