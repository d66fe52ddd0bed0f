"""LoRanPAC with D = 100,000 random features: seconds, memory and accuracy on the embedded CIFAR-100 sample.

.venv/bin/python benchmarks/loranpac.py [D] [MAX_RANK]
"""

import resource
import sys
import time

from anacp import LoRanPAC, load_sample

n_projected = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
max_rank = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
sample = load_sample("cifar100")
model = LoRanPAC(n_projected=n_projected, max_rank=max_rank)
start = time.perf_counter()
model.partial_fit(sample.x_train, sample.y_train)
learned = time.perf_counter()
model.solve()
solved = time.perf_counter()
accuracy = 100 * model.score(sample.x_test, sample.y_test)
predicted = time.perf_counter()
stored = sum(part.bytes for part in model.parts()) / 1e9
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(f"D = {n_projected:,}, rank cap {max_rank:,}: {accuracy:.2f} % of {len(sample.y_test):,} test rows")
print(f"learn {learned - start:.0f} s, solve {solved - learned:.0f} s, predict {predicted - solved:.0f} s")
print(f"stored {stored:.2f} GB, peak memory of the process {peak:.1f} GB")
