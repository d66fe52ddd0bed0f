"""A handful of sentences: learn, ask, add a class, forget one, keep the model."""

import anacp

classifier = anacp.Classifier("minilm-l6", "NCM")
classifier.learn(
    ["where is my parcel?", "has my order been sent?", "I want my money back", "please refund me"],
    ["delivery", "delivery", "refund", "refund"],
)
print(classifier.top(["when will it arrive?"], k=1)[0][0][0])

complaints = ["the handle broke off", "it arrived with a crack"]
classifier.learn(complaints, ["damage", "damage"])  # a new class: nothing is retrained
print(classifier.predict(["one leg is broken"])[0])

classifier.forget(complaints, ["damage", "damage"])  # the model that never saw them
print(classifier.classes_.tolist())

classifier.save("shop.anacp")
print(anacp.load("shop.anacp").predict(["give me a refund"])[0])
