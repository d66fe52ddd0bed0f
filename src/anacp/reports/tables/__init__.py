"""Tables as values, and the four ways of writing one."""

from anacp.reports.tables.table import Cell, Column, Row, Table
from anacp.reports.tables.to_csv import to_csv
from anacp.reports.tables.to_html import to_html
from anacp.reports.tables.to_latex import to_latex
from anacp.reports.tables.to_markdown import to_markdown

__all__ = ["Cell", "Column", "Row", "Table", "to_csv", "to_html", "to_latex", "to_markdown"]
