"""The contract that rooms talk to each other only through their doors: `__init__` of each package below `anacp`."""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class DoorsContract(Contract):
    """No module imports a module inside another room; it imports the room."""

    root = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        broken = sorted(
            (importer, imported)
            for importer in graph.modules
            for imported in graph.find_modules_directly_imported_by(importer)
            if self._is_inside(imported, graph) and _room(importer) != _room(imported)
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["broken"]:
            output.print_error(f"{importer} imports {imported}: import from {_room(imported)}", bold=False)

    def _is_inside(self, module: str, graph: ImportGraph) -> bool:
        return module.startswith(f"{self.root}.") and module.count(".") > 1


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])
