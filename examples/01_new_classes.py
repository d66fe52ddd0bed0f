"""New classes, day after day: features in, labels out, nothing retrained.

The embedded sample holds MiniLM features of 150 kinds of requests to an assistant.
"""

import anacp

sample = anacp.load_sample("clinc150")
days = {"Monday": "c", "Tuesday": "m", "Wednesday": "zz"}  # classes up to this letter are known by then

model = anacp.NCM()  # anacp.AnaCP() is more accurate and takes seconds instead of moments
before = ""
for day, letter in days.items():
    arriving = (sample.y_train >= before) & (sample.y_train < letter)
    model.partial_fit(sample.x_train[arriving], sample.y_train[arriving])
    known = sample.y_test < letter
    accuracy = 100 * model.score(sample.x_test[known], sample.y_test[known])
    print(f"{day}: {len(model.classes_)} classes, {accuracy:.1f} % right")
    before = letter
