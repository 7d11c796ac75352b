# A small image with the program and the Python package, run by a user without rights:
#   docker build -t oomplan . && docker run --rm -v "$PWD:/work:ro" oomplan estimate train.yaml --gpu rtx-4090
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip wheel --no-deps -w /wheels /source

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-compile /wheels/*.whl && rm -rf /wheels && useradd --create-home --uid 1000 oomplan
USER 1000
WORKDIR /work
ENTRYPOINT ["oomplan"]
