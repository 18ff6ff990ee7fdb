"""`demo.py` on a platform: the `program` of its strategies."""

from colo import kungfu

if __name__ == "__main__":
    # The simulated market calls its instruments otherwise.
    kungfu.run("demo.py", symbols={"600000": "SIM001", "600001": "SIM002"})
