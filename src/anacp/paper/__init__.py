"""The paper's tables: rows, columns, constants and numbers. What a run stands for, as data."""

from anacp.paper.cell import Cell, ablation_setting, citation, printed_cost, printed_relative_error, printed_value
from anacp.paper.tables import AS_PRINTED, METHOD, N_TASKS, TABLES, UNRANKED, PaperColumn, PaperRow, PaperTable

__all__ = [
    "AS_PRINTED",
    "METHOD",
    "N_TASKS",
    "TABLES",
    "UNRANKED",
    "Cell",
    "PaperColumn",
    "PaperRow",
    "PaperTable",
    "ablation_setting",
    "citation",
    "printed_cost",
    "printed_relative_error",
    "printed_value",
]
