"""One file a question. Each has QUESTION, its text, measure(driver, note) -> rows, and plot(rows, figure)."""
